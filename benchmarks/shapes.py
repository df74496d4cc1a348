"""What do samples of a shape cost beside the training, and how close is a step to its matrix products alone?

    python benchmarks/shapes.py [--mesh FILE] [--method al-sine] [--preset paper-shape default-shape] [--turns 3]
                                [--avx2] [--json]
    python benchmarks/shapes.py --method al-grid --preset default-shape

Without a mesh the shape is a rippled torus of 200,000 faces.

A step here is what `fit` does: it takes its samples, whose distances a thread beside it measures, the gradient of the
batch, and the optimiser's update. A timing sees whole blocks of samples come in: for a grid one as large as in a fit;
a network's steps take longer, so its blocks are smaller, with the same number of uses. Steps and bare products, forward
and backward at the same sizes and by as many processes, are timed in turns; the median of the turns counts. A grid's
gathers belong to its products (`benchmarks/methods.py`). `waiting` is the time the training spends on taking its
samples, relative to the step.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import torch

from alfilter.methods import build, training
from alfilter.networks import MLP
from alfilter.ops.grid_mlp import GridFeatures
from alfilter.runtime.fork_pool import ForkPool
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.runtime.ways import use_way
from alfilter.signals import ShapeSignal, open_signal
from alfilter.tasks import SdfTask
from alfilter.training.gradient import GradientWorkers, accumulate_gradient
from alfilter.training.loop import make_optimiser
from large_mesh import write_torus
from machine import add_avx2, fit_way, hold_to_avx2, machine
from methods import floor as products_and_gathers

FACES = 200_000  # of the shape that is made
CHUNKS = (1024, 2048, 4096)  # rows of a product; the floor is taken at the best of these
BLOCKS = 4  # of a network that come in during one timing


class Timed(SdfTask):
    """Counts the seconds that taking samples holds up a step."""

    waited = 0.0

    def prepare(self, *arguments: Any) -> None:  # `pieces` asks for it again, and is not counted twice
        began = time.perf_counter()
        super().prepare(*arguments)
        self.waited += time.perf_counter() - began

    def pieces(self, *arguments: Any) -> Any:
        before, began = self.waited, time.perf_counter()
        results = super().pieces(*arguments)
        self.waited = before + time.perf_counter() - began
        return results


def products(sizes: list[tuple[int, int]], batch: int, chunk: int) -> Callable[[], object]:
    """The matrix products of one step, forward and backward, its chunks side by side."""
    weights = [torch.randn(outputs, inputs) / 16 for outputs, inputs in sizes]
    count = -(-batch // chunk)
    samples = [
        ([torch.randn(chunk, i) for _, i in sizes], [torch.randn(chunk, o) for o, _ in sizes]) for _ in range(workers())
    ]
    buffers = [
        ([torch.empty(chunk, o) for o, _ in sizes], [torch.empty(chunk, i) for _, i in sizes],
         [torch.empty(o, i) for o, i in sizes])
        for _ in range(workers())
    ]  # fmt: skip

    def work(position: int, _: None) -> None:
        (inputs, grads), (outs, by_input, by_weight) = samples[position], buffers[position]
        for _ in range(position, count, workers()):
            for x, w, out in zip(inputs, weights, outs, strict=True):
                torch.mm(x, w.t(), out=out)
            for i in reversed(range(len(weights))):
                torch.mm(grads[i].t(), inputs[i], out=by_weight[i])
                torch.mm(grads[i], weights[i], out=by_input[i])

    pool = ForkPool(work, workers())
    return lambda: pool.run(None)


@single_threaded_ops()
def measure(signal: ShapeSignal, method: str, preset: str, turns: int, after: ExitStack) -> dict[str, Any]:
    """Seconds of a step and of its products, and the share of waiting for samples."""
    setting = training(method, preset)
    field = build(method, in_dim=3, out_dim=1, preset=preset)
    usual, batch = SdfTask(signal), int(setting.batch or 10_000)
    is_grid = isinstance(field.encoding.compiled_features(), GridFeatures)
    block = usual.block if is_grid else max(8, 24 * batch // usual.reuse)  # which lasts 24 steps
    lasts, blocks = usual.reuse * block // batch, 1 if is_grid else BLOCKS
    task = Timed(signal, block=block)
    task.set_sampling(setting.sampling)
    field.set_range(*task.output_range())
    gradient_workers, optimiser = GradientWorkers(field), make_optimiser(field, setting)
    after.callback(gradient_workers.close)
    way = fit_way(field, task, setting, optimiser)
    assert isinstance(field.network, MLP)
    sizes = [(w.shape[0], w.shape[1]) for w in field.network.weights]
    if is_grid:
        piece = task.load(task.pieces(0, 0, batch, batch // workers())[0])
        floors = {len(piece[0]): products_and_gathers(field, task, piece, batch, after)}
    else:
        floors = {chunk: products(sizes, batch, chunk) for chunk in CHUNKS}
    step = 0

    def steps(count: int) -> tuple[float, float]:
        nonlocal step
        task.waited, began = 0.0, time.perf_counter()
        with use_way(way):
            for _ in range(count):
                accumulate_gradient(gradient_workers, task, setting, step, 0, whole=not optimiser.adds_up())
                optimiser.step(1.0, gradient_workers.take_sums())
                field.encoding.constrain()
                step += 1
        return (time.perf_counter() - began) / count, task.waited / count

    steps(lasts * task.window)  # the window is full, everything is compiled
    results: dict[str, Any] = {"step": [], "waiting": [], **{chunk: [] for chunk in floors}}
    for _ in range(turns):
        seconds, waiting = steps(lasts * blocks)
        results["step"].append(seconds)
        results["waiting"].append(waiting / seconds)
        for chunk, run in floors.items():
            run()
            began = time.perf_counter()
            for _ in range(lasts):
                run()
            # a batch that is no multiple of the chunk pays for its own rows only
            results[chunk].append((time.perf_counter() - began) / lasts * batch / (-(-batch // chunk) * chunk))
    usual, floor = median(results["step"]), min(median(results[chunk]) for chunk in floors)
    return {
        "setting": f"{method} {preset}, {len(sizes) - 1}×{sizes[0][0]}, batch {batch}",
        "machine": machine(),
        "way": way,
        "step ms": round(1e3 * usual, 2),
        "products ms": round(1e3 * floor, 2),
        "of the products": round(floor / usual, 3),
        "waiting for samples": round(max(results["waiting"]), 4),
    }


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mesh", type=Path, help="a scan; without one a shape is made")
    p.add_argument("--method", default="al-sine")
    p.add_argument("--preset", nargs="+", default=["paper-shape", "default-shape"])
    p.add_argument("--turns", type=int, default=3)
    p.add_argument("--json", action="store_true", help="print one JSON object a line")
    add_avx2(p)
    arguments = p.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        mesh = arguments.mesh or Path(folder) / "torus.ply"
        if arguments.mesh is None:
            write_torus(mesh, FACES)
        signal = open_signal(str(mesh))
    assert isinstance(signal, ShapeSignal)
    for preset in arguments.preset:
        with ExitStack() as after:
            line = measure(signal, arguments.method, preset, arguments.turns, after)
        line["targets"] = "of the products ≥ 0.8 (paper-shape), 0.75 (default-shape), waiting ≤ 0.10"
        if arguments.json:
            print(json.dumps(line), flush=True)
            continue
        for name, value in line.items():
            print(f"{name:<22}{value}", flush=True)


if __name__ == "__main__":
    main()
