"""What does a surface at 512³ cost? Share of the grid evaluated, time against the dense rate, memory.

    python benchmarks/mesh.py [MODEL] [--resolution 512] [--mesh FILE] [--steps 300] [--json]

Without a model an 8×256 al-sine field is fitted to the mesh for a few steps first: its surface is rougher than a
finished one, so more cells hold it. The dense time is the rate of the same evaluator on random points of the domain,
times the number of grid points. With --check the surface is compared with the dense one, vertex by vertex.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

from alfilter.geometry.surface import extract, memory_needed
from alfilter.methods import build, training
from alfilter.tasks import SdfTask, open_task, sample_points
from alfilter.training import fit, load


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="?")
    p.add_argument("--resolution", type=int, default=512)
    p.add_argument("--mesh", default="../shared/data/meshes/armadillo.obj")
    p.add_argument("--method", default="al-sine")
    p.add_argument("--preset", default="paper-shape")
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--check", action="store_true")
    p.add_argument("--json", action="store_true")
    arguments = p.parse_args()
    field = load(arguments.model) if arguments.model else fitted(arguments)
    line = measure(field, arguments.resolution, arguments.check)
    if arguments.json:
        print(json.dumps(line))
        return
    for name, value in line.items():
        print(f"{name:<18}{value}")


def fitted(arguments: argparse.Namespace) -> Any:
    """A field after a short fit at a rate that suits it."""
    task = open_task(arguments.mesh)
    assert isinstance(task, SdfTask)
    field = build(arguments.method, in_dim=3, out_dim=1, preset=arguments.preset)
    recipe = training(arguments.method, arguments.preset, steps=arguments.steps, schedule="cosine", decay=0.05)
    fit(field, task, training=recipe)
    return field


def measure(field: Any, resolution: int, check: bool) -> dict[str, Any]:
    def evaluate(points: Any) -> Any:
        return sample_points(field, points)

    points = np.random.default_rng(0).uniform(-1, 1, (1 << 18, 3)).astype(np.float32)
    evaluate(points)  # warm
    began = time.perf_counter()
    evaluate(points)
    rate = len(points) / (time.perf_counter() - began)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    surface = extract(evaluate, resolution)
    seconds = time.perf_counter() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    dense = resolution**3 / rate
    line: dict[str, Any] = {
        "resolution": resolution,
        "vertices": len(surface.vertices),
        "faces": len(surface.faces),
        "evaluated": surface.evaluated,
        "share": round(surface.share, 5),
        "reopened": surface.reopened,
        "seconds": round(seconds, 2),
        "points_per_second": round(rate),
        "dense_seconds": round(dense, 1),
        "times_faster": round(dense / seconds, 1),
        "peak_memory_gb": round(peak / 1e9, 3),
        "estimated_gb": round(memory_needed(resolution) / 1e9, 3),
    }
    if check:
        full = extract(evaluate, resolution, dense=True)
        line["same_as_dense"] = bool(
            np.array_equal(full.vertices, surface.vertices) and np.array_equal(full.faces, surface.faces)
        )
    return line


if __name__ == "__main__":
    main()
