"""What does a surface at 512³ cost? Share of the grid evaluated, time against the dense rate, memory. Is it exact?

    python benchmarks/mesh.py [MODEL] [--resolution 512] [--mesh FILE] [--steps 600] [--json]
    python benchmarks/mesh.py --equal [--resolution 256] [--data DIR] [--steps 300] [--models DIR] [--json]

The first measures one field in a process of its own: a model, or an 8×256 al-sine field after a short fit to the mesh,
whose surface is rougher than a finished one, so that more cells hold it. The dense time is extrapolated: the rate of
the same evaluator on a share of the grid, whole rows of it, spread over the domain and timed before and after the
extraction, times the number of grid points. Peak memory is what the process held at most minus what it held with the
model loaded and warm.

--equal fits a field of the given size to each of the five scans, to a thin shell and to two small distant bodies, and
compares their surfaces with the dense ones, vertex by vertex and face by face.
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

from alfilter.evaluate import distances_at
from alfilter.experiments.data import data_folder
from alfilter.geometry.surface import Surface, extract, memory_needed
from alfilter.methods import build, training
from alfilter.runtime.memory import keep_freed_memory
from alfilter.signals import ShapeSignal
from alfilter.tasks import SdfTask, open_task
from alfilter.training import fit, load, save
from machine import machine

SCANS = ("armadillo.obj", "dragon_xyzrgb.ply", "lucy.ply", "thai_from_bacon.ply", "bunny.obj")
SHARE = 1 / 256  # of the dense grid that its rate is measured on


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", nargs="?")
    p.add_argument("--resolution", type=int)
    p.add_argument("--data", default=f"{data_folder()}/meshes", help="the folder of the scans (default: %(default)s)")
    p.add_argument("--mesh", help="what is fitted when no model is given (default: armadillo.obj of --data)")
    p.add_argument("--method", default="al-sine")
    p.add_argument("--width", type=int, help="neurons per layer (default: 256, with --equal 64)")
    p.add_argument("--depth", type=int, help="hidden layers (default: 8, with --equal 4)")
    p.add_argument("--steps", type=int, help="of the short fit (default: 600, with --equal 300)")
    p.add_argument("--equal", action="store_true", help="compare with the dense surface on seven shapes")
    p.add_argument("--only", help="with --equal: the shapes whose names begin with this")
    p.add_argument("--models", help="with --equal: a folder that keeps the fitted fields and gives them back")
    p.add_argument("--json", action="store_true", help="print one JSON object a line")
    p.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = p.parse_args()
    if arguments.equal:
        compare_all(arguments)
    elif arguments.inside:
        print(json.dumps(measure(load(arguments.model), arguments.resolution)))
    else:
        show(alone(arguments), arguments.json)


def show(line: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(line), flush=True)
        return
    for name, value in line.items():
        print(f"{name:<22}{value}", flush=True)


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def alone(arguments: argparse.Namespace) -> dict[str, Any]:
    """The measurement in a fresh process, so that nothing but the model is in its memory."""
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if model is None:
            mesh = arguments.mesh or str(Path(arguments.data) / "armadillo.obj")
            model = str(Path(folder) / "model.safetensors")
            task = open_task(mesh)
            assert isinstance(task, SdfTask)
            save(fitted(task, arguments, 256, 8, arguments.steps or 600), model)
        command = [sys.executable, __file__, model, "--inside", "--resolution", str(arguments.resolution or 512)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return {"machine": machine(), **json.loads(done.stdout)}


def fitted(task: SdfTask, arguments: argparse.Namespace, width: int, depth: int, steps: int) -> Any:
    """A field of the method after a short fit at a rate that suits it."""
    size = {"width": arguments.width or width, "depth": arguments.depth or depth}
    field = build(arguments.method, in_dim=3, out_dim=1, preset="default-shape", **size)
    fit(field, task, training=training(arguments.method, "default-shape", steps=steps))
    return field


def measure(field: Any, resolution: int) -> dict[str, Any]:
    """Share, seconds and memory of one extraction, with the dense rate measured around it."""
    keep_freed_memory()

    def evaluate(points: Any) -> Any:
        return distances_at(field, points)

    evaluate(np.zeros((1 << 15, 3), np.float32))  # compiles, warms up, takes what every evaluation needs
    before = _status("VmRSS")
    rates = [dense_rate(evaluate, resolution)]
    began = time.perf_counter()
    surface = extract(evaluate, resolution)
    seconds = time.perf_counter() - began
    peak = _status("VmHWM") - before
    rates.append(dense_rate(evaluate, resolution))
    dense = resolution**3 / max(rates)
    return {
        "resolution": resolution,
        "vertices": len(surface.vertices),
        "faces": len(surface.faces),
        "evaluated": surface.evaluated,
        "share": round(surface.share, 5),
        "reopened": surface.reopened,
        "seconds": round(seconds, 2),
        "dense points/s": [round(rate) for rate in rates],
        "dense seconds": f"{dense:.0f} (extrapolated from {SHARE:.2%} of the grid at the better rate)",
        "times faster": round(dense / seconds, 1),
        "peak GB above model": round(peak / 1e9, 3),
        "estimated GB": round(memory_needed(resolution) / 1e9, 3),
        "targets": "share ≤ 0.03, times faster ≥ 15, peak ≤ 1.5",
    }


def dense_rate(evaluate: Any, resolution: int) -> float:
    """Points per second on whole rows of the grid, spread over the domain."""
    axis = np.linspace(-1, 1, resolution, dtype=np.float32)
    rows = np.random.default_rng(0).choice(resolution**2, max(1, round(SHARE * resolution**2)), replace=False)
    points = np.empty((len(rows), resolution, 3), np.float32)
    points[:, :, 0], points[:, :, 1] = axis[rows // resolution, None], axis[rows % resolution, None]
    points[:, :, 2] = axis
    began = time.perf_counter()
    evaluate(points.reshape(-1, 3))
    return points.size / 3 / (time.perf_counter() - began)


def _status(name: str) -> int:
    """A line of this process's status in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024


# ── equality ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def compare_all(arguments: argparse.Namespace) -> None:
    """One line a shape; the exit code is 1 when any differs."""
    resolution = arguments.resolution or 256
    different = 0
    for name in (*SCANS, "shell", "two"):
        if arguments.only and not name.startswith(arguments.only):
            continue
        field = kept(name, arguments)
        surface = extract(lambda points, field=field: distances_at(field, points), resolution)
        dense = extract(lambda points, field=field: distances_at(field, points), resolution, dense=True)
        equal = same(surface, dense)
        different += not equal
        show({"machine": machine(), "shape": name, "resolution": resolution, "same as dense": equal,
              "faces": len(surface.faces), "dense faces": len(dense.faces), "share": round(surface.share, 5),
              "reopened": surface.reopened}, arguments.json)  # fmt: skip
    sys.exit(1 if different else 0)


def kept(name: str, arguments: argparse.Namespace) -> Any:
    """The fitted field of a shape, from the folder of models where there is one."""
    file = Path(arguments.models) / f"{Path(name).stem}.safetensors" if arguments.models else None
    if file is not None and file.exists():
        return load(file)
    if name in ("shell", "two"):
        signal = made(name)
    else:
        opened = open_task(str(Path(arguments.data) / name))
        assert isinstance(opened, SdfTask)
        signal = opened.signal
    field = fitted(SdfTask(signal), arguments, 64, 4, arguments.steps or 300)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        save(field, file)
    return field


def made(name: str) -> ShapeSignal:
    """A ball's skin, 2 % of its radius thick; or two small balls in opposite corners."""
    import trimesh

    if name == "shell":
        outer, inner = (trimesh.creation.icosphere(subdivisions=5, radius=radius) for radius in (1.0, 0.98))
        inner.invert()
        bodies = [outer, inner]
    else:
        bodies = [trimesh.creation.icosphere(subdivisions=4, radius=0.06) for _ in range(2)]
        for body, side in zip(bodies, (-1.0, 1.0), strict=True):
            body.apply_translation([side, side * 0.97, side * 0.95])
    mesh = trimesh.util.concatenate(bodies)
    return ShapeSignal.from_mesh(mesh.vertices, mesh.faces, name)


def same(one: Surface, other: Surface) -> bool:
    return np.array_equal(one.vertices, other.vertices) and np.array_equal(one.faces, other.faces)


if __name__ == "__main__":
    main()
