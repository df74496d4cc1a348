"""What does a mesh of 10 million faces take to be read, mended, and ready for training? Seconds and memory, by stage.

    python benchmarks/large_mesh.py [--faces 10000000] [--json]

The mesh is a rippled torus, written as a binary PLY into a temporary folder and opened in a fresh process, as `alfilter
fit` does; then one block of distances is measured by the process beside it. Memory is what each process held at most
(Linux), the import of the package included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np


def write_torus(path: Path, faces: int) -> None:
    """A closed surface of about that many faces."""
    side = max(8, round((faces / 2) ** 0.5))
    u, v = np.meshgrid(*[np.arange(side) * (2 * np.pi / side)] * 2, indexing="ij")
    tube = 0.3 + 0.02 * np.sin(40 * u) * np.sin(25 * v)
    ring = 1 + tube * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), tube * np.sin(v)], -1).reshape(-1, 3).astype("<f4")
    index = np.arange(side * side).reshape(side, side)
    right, up, both = np.roll(index, -1, 0), np.roll(index, -1, 1), np.roll(index, (-1, -1), (0, 1))
    corners = np.concatenate([np.stack([index, right, both], -1), np.stack([index, both, up], -1)]).reshape(-1, 3)
    rows = np.zeros(len(corners), dtype=[("n", "u1"), ("v", "<i4", 3)])
    rows["n"], rows["v"] = 3, corners
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {len(rows)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    with path.open("wb") as stream:
        stream.write(header.encode())
        points.tofile(stream)
        rows.tofile(stream)


def inside(path: str) -> dict[str, Any]:
    """The stages in this process."""
    from alfilter.tasks import SdfTask, open_task

    began = time.perf_counter()
    stages: list[tuple[float, str]] = []
    task = open_task(path, say=lambda line: stages.append((round(time.perf_counter() - began, 1), line)))
    opened = time.perf_counter() - began
    assert isinstance(task, SdfTask)
    task.pieces(0, 0, 10_000, 10_000)
    worker = task._worker
    return {
        "faces": 0 if task.signal.faces is None else len(task.signal.faces),
        "file MB": round(Path(path).stat().st_size / 1e6),
        "said": stages,
        "opened after s": round(opened, 1),
        "first block after s": round(time.perf_counter() - began, 1),
        "peak GB": round(_peak("self") / 1e9, 2),
        "peak GB beside": round(_peak(str(worker._process.pid)) / 1e9, 2) if worker is not None else None,
    }


def _peak(process: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--faces", type=int, default=10_000_000)
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = p.parse_args()
    if arguments.inside:
        print(json.dumps(inside(arguments.inside)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "torus.ply"
        write_torus(path, arguments.faces)
        command = [sys.executable, __file__, "--inside", str(path)]
        line = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    from machine import machine  # here, since its imports would count in the peak of the process that is measured

    line = {"machine": machine(), **line}
    if arguments.json:
        print(json.dumps(line))
        return
    for name, value in line.items():
        print(f"{name:<22}{value}")


if __name__ == "__main__":
    main()
