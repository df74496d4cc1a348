"""Do other processors, no compiler and tight limits give the same fields, or a line that says what is missing?

Fits small signals with every kind of encoding in processes of their own: as usual; with kernels for a processor without
special instructions; without AVX2; without numba, on the plain tensor functions. The trained values must agree to 1e-5
of the field's range after a few steps. Then: 64 workers on this machine, few processes allowed, little address space.

    python -m benchmarks.campaigns.processors          # from the repository's root
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

METHODS = ("al-sine", "al-relu", "al-grid", "hash-grid", "octree", "acorn", "siren", "wire", "mfn-gabor", "bacon")
OPTIONS: dict[str, dict[str, Any]] = {
    "al-sine": {"width": 16, "depth": 2, "levels": 4, "grid": 8},
    "al-relu": {"width": 16, "depth": 2, "levels": 4, "grid": 8},
    "al-grid": {"width": 16, "depth": 1, "levels": 4, "table": 8},
    "hash-grid": {"width": 16, "depth": 1, "levels": 4, "table": 8},
    "octree": {"width": 16, "depth": 1, "levels": 3, "capacity": 300},
    "acorn": {"width": 16, "depth": 1, "tiles": 16, "deepest": 3, "patch": 2, "decoder": 16, "every": 3},
    "siren": {"width": 16, "depth": 2},
    "wire": {"width": 16, "depth": 2},
    "mfn-gabor": {"width": 16},
    "bacon": {"width": 16},
}
NO_AVX2 = "+sse4.2,-avx,-avx2,-fma,-avx512f"
MACHINES: dict[str, dict[str, str]] = {
    "as usual": {},
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "without AVX2": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": NO_AVX2},
    "without numba": {"ALFILTER_CAMPAIGN_NO_NUMBA": "1"},
}
TOLERANCE = 1e-5


def train(method: str) -> list[float]:
    """A field's values after four steps on a small picture, one thread."""
    import numpy as np
    import torch

    import alfilter as al
    from alfilter.signals import GridSignal, grid_coords
    from alfilter.tasks import ImageTask

    torch.set_num_threads(1)
    task = ImageTask(GridSignal(np.random.default_rng(0).random((12, 10, 3)).astype(np.float32)))
    field = al.build(method, in_dim=2, out_dim=3, samples=(12, 10), **OPTIONS[method])
    al.fit(field, task, steps=4, batch=None, lr=1e-4, lr_encoding=1e-4)
    with torch.inference_mode():
        values: list[float] = field(grid_coords((12, 10))).double().flatten().tolist()
    return values


def worker() -> None:
    """Train every method named on the command line and print the values as JSON."""
    if os.environ.get("ALFILTER_CAMPAIGN_NO_NUMBA"):
        sys.modules["numba"] = None  # type: ignore[assignment]  # as where it is not installed
    print(json.dumps({method: train(method) for method in sys.argv[2:]}))


def values_on(machine: str, methods: tuple[str, ...]) -> dict[str, list[float]]:
    words = [sys.executable, "-m", "benchmarks.campaigns.processors", "--worker", *methods]
    done = subprocess.run(words, env={**os.environ, **MACHINES[machine]}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{machine}: exit code {done.returncode}: {done.stderr[-600:]}")
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def compare(methods: tuple[str, ...], machines: tuple[str, ...]) -> int:
    """Print the greatest difference of every method on every machine; how many are beyond the tolerance."""
    beyond = 0
    usual = values_on("as usual", methods)
    others = {machine: values_on(machine, methods) for machine in machines}
    print(f"{'method':<12}" + "".join(f"{machine:>16}" for machine in machines))
    for method in methods:
        row = [max(abs(a - b) for a, b in zip(usual[method], others[m][method], strict=True)) for m in machines]
        beyond += sum(not difference <= TOLERANCE for difference in row)
        print(f"{method:<12}" + "".join(f"{difference:>16.2e}" for difference in row))
    return beyond


def _limit(kind: int, most: int) -> None:
    resource.setrlimit(kind, (most, most))


def under_limits() -> int:
    """`alfilter fit` with many workers and with little of everything: exit code 0, or 2 and one line."""
    from benchmarks.campaigns.originals import make_originals

    failures = 0
    with tempfile.TemporaryDirectory() as text:
        home = Path(text)
        make_originals(home)
        used = len([e for e in Path("/proc").iterdir() if e.name.isdigit()])
        trials: list[tuple[str, list[str], Any]] = [
            ("64 workers", ["--threads", "64", "--train", "micro=4"], None),
            ("few processes", ["--threads", "2", "--train", "micro=16"], (resource.RLIMIT_NPROC, used + 2)),
            ("4 GB of addresses", ["--threads", "1"], (resource.RLIMIT_AS, 4 << 30)),
            ("1 GB of addresses", ["--threads", "1"], (resource.RLIMIT_AS, 1 << 30)),
            ("64 open files", ["--threads", "2"], (resource.RLIMIT_NOFILE, 64)),
        ]
        for number, (name, words, limit) in enumerate(trials):
            command = [sys.executable, "-m", "alfilter", "fit", str(home / "photo.png"), "--method", "siren", "--set"]
            command += ["width=8", "--set", "depth=1", "--steps", "5", "--quiet", "--out", str(home / f"run{number}")]
            before = (lambda limit=limit: _limit(*limit)) if limit is not None else None
            done = subprocess.run([*command, *words], capture_output=True, text=True, preexec_fn=before, check=False)
            lines = done.stderr.splitlines()
            said = lines[-1][:110] if lines else ""
            good = done.returncode == 0 or (done.returncode == 2 and len(lines) == 1)
            failures += not good
            print(f"{name:<20}exit code {done.returncode:>3}, {len(lines)} lines on stderr  {said}")
    return failures


def main() -> int:
    if sys.argv[1:2] == ["--worker"]:
        worker()
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--methods", default=",".join(METHODS))
    methods = tuple(parser.parse_args().methods.split(","))
    beyond = compare(methods, tuple(machine for machine in MACHINES if machine != "as usual"))
    failures = under_limits()
    print(f"{beyond} differences beyond {TOLERANCE:g}, {failures} failures under limits")
    return 1 if beyond or failures else 0


if __name__ == "__main__":
    sys.exit(main())
