"""How much faster is the contracted tangent kernel than rows of a Jacobian, is it the same, in what memory?

The network is the paper's, three layers of 256, on 2,048 random points, all three outputs, in float64. Both versions
run in turns in one process and the best of the repetitions counts; then the fast one runs once more in a process of
its own, with the paper's α grid of 512², for its peak memory.

    python benchmarks/ntk.py [--json] [--points 2048] [--repeat 2] [--method al-sine] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from alfilter.analysis import empirical_ntk, random_points, simple_ntk
from alfilter.methods import build


def main() -> None:
    parser = argparse.ArgumentParser(description="the fast tangent kernel against the simple one")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--points", type=int, default=2048)
    parser.add_argument("--repeat", type=int, default=2, help="repetitions of both, in turns")
    parser.add_argument("--method", default="al-sine")
    parser.add_argument("--threads", type=int, help="cores to use (default: all)")
    parser.add_argument("--memory", action="store_true", help="the fast one alone, for its peak memory in MB")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    field = build(arguments.method, in_dim=2, out_dim=3, preset="paper", samples=(512, 512))
    x = random_points(arguments.points, 2)
    if arguments.memory:
        empirical_ntk(field, x)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    versions: dict[str, Callable[[], Tensor]] = {
        "fast": lambda: empirical_ntk(field, x, "network"),
        "simple": lambda: simple_ntk(field, x, "network"),
        "fast, with the α grid": lambda: empirical_ntk(field, x),
    }
    empirical_ntk(field, x[:64])  # imports and first calls
    best, kernels = dict.fromkeys(versions, float("inf")), {}
    for _ in range(arguments.repeat):
        for name, run in versions.items():
            began = time.perf_counter()
            kernels[name] = run()
            best[name] = min(best[name], time.perf_counter() - began)
    difference = float((kernels["fast"] - kernels["simple"]).abs().max() / kernels["simple"].abs().max())
    child = [sys.executable, __file__, "--memory", "--points", str(arguments.points), "--method", arguments.method]
    peak = float(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
    from machine import machine  # here, since its imports would count in that peak

    share = best["fast"] / best["simple"]
    line = {"machine": machine(), "method": arguments.method, "points": arguments.points, "seconds": best,
            "share": share, "largest relative difference": difference, "peak MB of the fast one": peak}  # fmt: skip
    if arguments.json:
        print(json.dumps(line))
        return
    print(machine())
    for name, seconds in best.items():
        print(f"{name:<28}{seconds:8.2f} s")
    print(f"{'fast / simple':<28}{share:8.4f}")
    print(f"{'largest difference':<28}{difference:8.1e}   of the largest entry")
    print(f"{'peak memory, fast':<28}{peak:8.0f} MB")


if __name__ == "__main__":
    main()
