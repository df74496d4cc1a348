"""How close is a training step of every method to its own floor: its matrix products, and for grids its gathers?

One step: the gradient of all samples of a 512×512 colour picture (with --own: of a batch of the size that the method's
default trains with) in its pieces, and the optimiser's update, at the method's default setting. The floor is read off
the method itself: all matrix products of one piece, forward and backward, with their sizes, and the rows that its
gathers read, are recorded once and repeated with nothing between them, by as many processes as the step. Products are
done in the order and the storage in which they are fastest, whatever plain tensor code would choose. A gather is the
compiled sum over the corners of a cell and the scatter of its gradient into zeros, with known places and weights
(torch's own scatter is several times slower and would flatter us). Both are timed in turns in one process, a tenth of a
second each; ratios are of medians, with the best beside.

    python benchmarks/methods.py [--own | --batch 65536] [--avx2] [--json] [--repeat 4] [--seconds 8] [--only siren]
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from alfilter.kernels import gather_scatter
from alfilter.methods import METHODS, Field, build, parameter_count, training
from alfilter.runtime.fork_pool import ForkPool
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.runtime.ways import use_way
from alfilter.tasks import ImageTask
from alfilter.tasks.base import Chunk, Task
from alfilter.training.adaptation import adapt
from alfilter.training.gradient import GradientWorkers, accumulate_gradient
from alfilter.training.loop import make_optimiser
from machine import add_avx2, fit_way, hold_to_avx2, machine

Step = Callable[[], object]
TARGETS = 1.15, 1.25  # times the floor: over all samples, and at a method's own batch
_ROUND = 0.1  # seconds of steps, then of the floor
_PRODUCTS = {torch.ops.aten.mm.default: 0, torch.ops.aten.addmm.default: 1}  # where the first factor stands
_GATHERS = (torch.ops.aten.index.Tensor, torch.ops.aten.index_select.default, torch.ops.aten.embedding.default)


Layout = tuple[int, int, bool]  # rows, columns, and whether they are stored column by column
Factors = tuple[Tensor, Tensor]


@dataclass
class Recorder(TorchDispatchMode):
    """Notes the factors of all matrix products, and the tables and rows of all gathers."""

    products: list[tuple[Layout, Layout]] = field(default_factory=list)
    gathers: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # table, rows

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _PRODUCTS:
            left, right = args[_PRODUCTS[func] : _PRODUCTS[func] + 2]
            self.products.append((_layout(left), _layout(right)))
        elif func in _GATHERS:
            indices = [a for a in (*args[1:], *(args[1] if isinstance(args[1], list) else ())) if _is_index(a)]
            if len(indices) == 1 and indices[0].numel() >= 1024:
                self.gathers.append((args[0].detach().reshape(len(args[0]), -1), indices[0].flatten().to(torch.int32)))
        return func(*args, **(kwargs or {}))


def _layout(a: Tensor) -> Layout:
    return a.shape[0], a.shape[1], a.stride(0) < a.stride(1)


def _factor(layout: Layout) -> Tensor:
    rows, columns, turned = layout
    return torch.randn(columns, rows).t() if turned else torch.randn(rows, columns)


def _fastest(left: Layout, right: Layout) -> Factors:
    """The factors of a product or, for the same numbers turned, of its transpose, whichever is done sooner.

    Either factor may be stored by rows or by columns: for narrow matrices MKL is several times slower in one order
    than in the other, and what plain tensor code happens to choose is no floor.
    """
    stored = [((*left[:2], a), (*right[:2], b)) for a in (False, True) for b in (False, True)]
    ways = [(_factor(a), _factor(b)) for a, b in stored]
    ways += [(b.t(), a.t()) for a, b in ways]
    best = [float("inf")] * len(ways)
    for _ in range(8):
        for i, factors in enumerate(ways):
            began = time.perf_counter()
            torch.mm(*factors)
            best[i] = min(best[i], time.perf_counter() - began)
    return ways[best.index(min(best))]


def _is_index(a: Any) -> bool:
    return isinstance(a, Tensor) and a.dtype in (torch.int32, torch.int64)


@dataclass(frozen=True)
class Gather:
    """Weighted sums of a table's rows and the scatter of their gradient; of whole numbers, a look at them alone."""

    table: Tensor
    rows: Tensor
    weights: Tensor

    @classmethod
    def of(cls, table: Tensor, rows: Tensor, corners: int) -> Gather:
        grouped = rows.view(-1, corners if rows.numel() % corners == 0 else 1)
        return cls(table.float() if table.is_floating_point() else table, grouped, torch.rand(grouped.shape))

    def run(self) -> None:
        if not self.table.is_floating_point():
            self.table.index_select(0, self.rows.view(-1))
            return
        gathered = torch.empty(len(self.rows), self.table.shape[1])
        arrays: Any = self.rows.numpy(), self.weights.numpy()
        gather_scatter.gather(self.table.numpy(), *arrays, gathered.numpy())
        gather_scatter.scatter(gathered.numpy(), *arrays, torch.zeros_like(self.table).numpy())


def floor(method: Field, task: Task, chunk: Chunk, batch: int, after: ExitStack) -> Step:
    """The products and gathers of a step of this field, and nothing else. chunk: the samples of a piece."""
    recorder = Recorder()
    x, y = chunk
    size = len(x)
    double = copy.deepcopy(method).double()  # in float64 no kernel hides a product
    with recorder:
        losses = [task.loss(out, y.double()) for out in double.outputs(x.double())]
        torch.stack(losses).mean().backward()
    known: dict[tuple[Layout, Layout], Factors] = {}
    pairs = [known.get(p) or known.setdefault(p, _fastest(*p)) for p in recorder.products]
    gathers = [Gather.of(table, rows, 1 << method.in_dim) for table, rows in recorder.gathers]

    def pieces(position: int, _: None) -> None:
        for _piece in range(position, batch // size, workers()):
            for left, right in pairs:
                torch.mm(left, right)
            for gather in gathers:
                gather.run()

    pool = after.enter_context(ForkPool(pieces, workers()))
    return lambda: pool.run(None)


def step(
    method: Field, task: ImageTask, name: str, batch: int, after: ExitStack, count: int | None = None
) -> tuple[Step, str]:
    """One step as `fit` takes it, on an encoding that has seen the signal; and the way that it takes here.

    count: of workers; none: one per core.
    """
    setting = training(name, "default", batch=batch)
    adapt(method, task, setting, 0, 0, 0.0)
    gradient_workers, optimiser = GradientWorkers(method, count=count), make_optimiser(method, setting)
    after.callback(gradient_workers.close)
    way, count = fit_way(method, task, setting, optimiser), iter(range(1 << 62))

    def run() -> None:
        with use_way(way):
            accumulate_gradient(gradient_workers, task, setting, next(count), 0, whole=not optimiser.adds_up())
            optimiser.step(1e-3, gradient_workers.take_sums())
            method.encoding.constrain()

    return run, way


def measure(name: str, task: ImageTask, repeat: int, seconds: float, batch: int | None = None) -> dict[str, Any]:
    """Seconds of a step and of its floor, in turns, after two that do not count."""
    model = build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)
    setting = training(name, "default")
    batch = task.batch_size(setting.batch if batch is None else batch)
    size = min(setting.micro, batch // workers())
    with ExitStack() as after:
        training_step, way = step(model, task, name, batch, after)  # first: it fits the encoding to the signal
        chunk = task.load(torch.randperm(len(task.signal))[:size])
        runs = {"step": training_step, "floor": floor(model, task, chunk, batch, after)}
        seconds_of: dict[str, list[float]] = {label: [] for label in runs}
        start, turn = time.perf_counter(), 0
        while turn < repeat + 2 or time.perf_counter() - start < seconds:
            for label, run in runs.items():
                round_began = time.perf_counter()
                while True:  # several in a row where they are short, as a training takes them: caches are its own
                    began = time.perf_counter()
                    run()
                    ended = time.perf_counter()
                    if turn > 1:
                        seconds_of[label].append(ended - began)
                    if ended - round_began > _ROUND:
                        break
            turn += 1
    return {
        "method": name,
        "way": way,
        "batch": batch,
        "params": parameter_count(model),
        "ms": 1e3 * median(seconds_of["step"]),
        "floor ms": 1e3 * median(seconds_of["floor"]),
        "ratio": median(seconds_of["step"]) / median(seconds_of["floor"]),
        "best ms": 1e3 * min(seconds_of["step"]),
        "best ratio": min(seconds_of["step"]) / min(seconds_of["floor"]),
        "points per second": batch / median(seconds_of["step"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="time a training step of every method against its own floor")
    add_avx2(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=4, help="repetitions of everything, at least")
    parser.add_argument("--seconds", type=float, default=8.0, help="time for a method, at least: a busy spell passes")
    parser.add_argument("--threads", type=int, help="cores to use (default: all)")
    parser.add_argument("--only", help="methods, separated by commas")
    batches = parser.add_mutually_exclusive_group()
    batches.add_argument("--batch", type=int, default=1 << 18, help="samples of a step (default: all)")
    batches.add_argument("--own", action="store_true", help="as many samples per step as the method's default takes")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    task = ImageTask.from_file("sample:astronaut")
    target = TARGETS[arguments.own]
    names = arguments.only.split(",") if arguments.only else list(METHODS)
    if not arguments.json:
        columns = f"{'step ms':>9}{'floor ms':>10}{'ratio':>7}{'of best':>9}{'points/s':>11}   way     ≤ {target}"
        print(machine())
        print(f"{'method':18}{'params':>10}{'batch':>9}{columns}")
    rows = []
    for name in names:
        with single_threaded_ops():  # as `fit` runs
            row = measure(name, task, arguments.repeat, arguments.seconds, None if arguments.own else arguments.batch)
        rows.append(row)
        if not arguments.json:
            verdict = f"{row['way']:8}{'yes' if row['ratio'] <= target else 'no'}"
            ratios = f"{row['ratio']:7.2f}{row['best ratio']:9.2f}"
            numbers = f"{row['ms']:9.1f}{row['floor ms']:10.1f}{ratios}{row['points per second']:11,.0f}"
            print(f"{name:18}{row['params']:10,}{row['batch']:9,}{numbers}   {verdict}", flush=True)
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": rows}))


if __name__ == "__main__":
    main()
