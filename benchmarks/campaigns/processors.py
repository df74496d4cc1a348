"""Do other processors, no compiler and tight limits give the same fields, or a line that says what is missing?

Fits small signals with every method in processes of their own: as usual; with kernels for a processor without special
instructions; without AVX2; without numba, on the plain tensor functions. Gradients must agree to 1e-5 of their greatest
entry, values after a few steps to 1e-5 of the field's range. Then the same command under tight limits (`limits.py`).

    python -m benchmarks.campaigns.processors          # from the repository's root
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from itertools import product
from typing import Any

from benchmarks.campaigns.limits import under_limits

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


def train(method: str) -> dict[str, list[float]]:
    """The gradient of a field's squared error on a small picture, relative to its greatest entry, and the field's
    values after four steps; one thread."""
    import numpy as np
    import torch

    import alfilter as al
    from alfilter.signals import GridSignal, grid_coords
    from alfilter.tasks import ImageTask

    torch.set_num_threads(1)
    task = ImageTask(GridSignal(np.random.default_rng(0).random((12, 10, 3)).astype(np.float32)))
    field = al.build(method, in_dim=2, out_dim=3, samples=(12, 10), **OPTIONS[method])
    (field(grid_coords((12, 10))) - task.signal.values()).square().mean().backward()
    gradient = torch.cat([p.grad.double().flatten() for p in field.parameters() if p.grad is not None])
    field.zero_grad()
    al.fit(field, task, steps=4, batch=None, lr=1e-4, lr_encoding=1e-4)
    with torch.inference_mode():
        values = field(grid_coords((12, 10))).double().flatten()
    return {"gradient": (gradient / gradient.abs().max()).tolist(), "values": values.tolist()}


def worker() -> None:
    """Train every method named on the command line and print the values as JSON."""
    if os.environ.get("ALFILTER_CAMPAIGN_NO_NUMBA"):
        sys.modules["numba"] = None  # type: ignore[assignment]  # as where it is not installed
    print(json.dumps({method: train(method) for method in sys.argv[2:]}))


def values_on(machine: str, methods: tuple[str, ...]) -> dict[str, dict[str, list[float]]]:
    words = [sys.executable, "-m", "benchmarks.campaigns.processors", "--worker", *methods]
    done = subprocess.run(words, env={**os.environ, **MACHINES[machine]}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{machine}: exit code {done.returncode}: {done.stderr[-600:]}")
    results: dict[str, dict[str, list[float]]] = json.loads(done.stdout)
    return results


def compare(methods: tuple[str, ...], machines: tuple[str, ...]) -> int:
    """Print the greatest difference of every method on every machine; how many are beyond the tolerance."""
    beyond = 0
    usual = values_on("as usual", methods)
    others = {machine: values_on(machine, methods) for machine in machines}
    print(f"{'method':<12}{'':<10}" + "".join(f"{machine:>16}" for machine in machines))
    for method, what in product(methods, ("gradient", "values")):
        row = [_difference(usual[method][what], others[machine][method][what]) for machine in machines]
        beyond += sum(not difference <= TOLERANCE for difference in row)
        print(f"{method:<12}{what:<10}" + "".join(f"{difference:>16.2e}" for difference in row))
    return beyond


def _difference(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


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
