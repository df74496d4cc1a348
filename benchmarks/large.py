"""Does a picture of 8,192 × 8,192 train from a memory-mapped file within 2.5 GB a process?

Makes the file (a zone plate with a fine texture, uint8, three channels), fits it for a few steps on one and on two
processes as torchrun would start them, scores and renders it, and prints the peak memory of every process as the system
counts it (resident pages, those of the mapped file included).

    python benchmarks/large.py                               # 8192², 1 and 2 processes; minutes: all pixels are scored
    python benchmarks/large.py --size 2048 --steps 20        # a quick look
    python benchmarks/large.py --words="--set width=64"      # more words for `alfilter fit`
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 2.5e9  # bytes per process


def make(path: Path, size: int, dtype: str) -> None:
    """Write the picture a band of rows at a time."""
    picture = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(size, size, 3))
    top = 1.0 if dtype == "float32" else np.iinfo(dtype).max
    x = np.linspace(-1, 1, size, dtype=np.float32)
    for start in range(0, size, 256):
        y = x[start : start + 256, None]
        radius = x[None] ** 2 + y**2
        channels = [0.5 + 0.4 * np.sin(size / 16 * radius * (c + 1)) * np.exp(-2 * radius) for c in range(3)]
        picture[start : start + 256] = np.stack(channels, -1) * top
    picture.flush()


def run(words: list[str], processes: int = 1) -> dict[str, Any]:
    """`alfilter WORDS` on that many processes: seconds, peak bytes of each, and what the first one printed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    started, began = [], time.monotonic()
    for rank in range(processes):
        place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(processes), "RANK": str(rank)}
        place |= {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(processes)} if processes > 1 else {}
        command = [sys.executable, "-m", "alfilter.cli", *words]
        started.append(subprocess.Popen(command, env={**os.environ, **place}, stdout=subprocess.PIPE, text=True))
    peaks, output = [], ""
    for rank, process in enumerate(started):
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        if code := os.waitstatus_to_exitcode(status):
            ending = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            sys.exit(f"alfilter {shlex.join(words)}: process {rank} {ending}")
        peaks.append(usage.ru_maxrss * 1024)
        output = text if rank == 0 else output
    return {"seconds": time.monotonic() - began, "peaks": peaks, "output": output}


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--size", type=int, default=8192)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--dtype", default="uint8", choices=("uint8", "uint16", "float32"))
    p.add_argument("--processes", default="1,2", help="numbers of processes, e.g. 1,2")
    p.add_argument("--words", default="", help="more words for alfilter fit")
    p.add_argument("--fit-only", action="store_true", help="leave out eval and render, which see all pixels again")
    p.add_argument("--json", action="store_true")
    arguments = p.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        picture, model = Path(folder) / "large.npy", ""
        make(picture, arguments.size, arguments.dtype)
        for count in map(int, arguments.processes.split(",")):
            out = f"{folder}/run-{count}"
            words = ["fit", str(picture), "--steps", str(arguments.steps), "--out", out, "--json", "--quiet"]
            threads = ["--threads", str(max(1, (os.cpu_count() or 1) // count))]
            done = run([*words, *threads, *shlex.split(arguments.words)], count)
            model = f"{out}/model.safetensors"
            rows.append({"what": f"fit, {count} process(es)", **done, "scores": json.loads(done["output"])["metrics"]})
        if not arguments.fit_only:
            rows.append({"what": "eval", **run(["eval", model, str(picture), "--json"])})
            rows.append({"what": "render to PNG", **run(["render", model, f"{folder}/out.png"])})
    for row in rows:
        row.pop("output")
    from machine import machine  # here, since what this process holds counts in the peaks of those it starts

    if arguments.json:
        settings = {"size": arguments.size, "dtype": arguments.dtype, "steps": arguments.steps}
        print(json.dumps({"machine": machine(), **settings, "rows": rows}))
    else:
        print(machine())
        print(f"{arguments.size}x{arguments.size} {arguments.dtype}, {arguments.steps} steps, limit {LIMIT / 1e9} GB")
        for row in rows:
            peaks = ", ".join(f"{peak / 1e9:.2f}" for peak in row["peaks"])
            print(f"{row['what']:<22}{row['seconds']:8.1f} s   peak GB: {peaks}   {row.get('scores', '')}")
    return 0 if all(peak <= LIMIT for row in rows for peak in row["peaks"]) else 1


if __name__ == "__main__":
    sys.exit(main())
