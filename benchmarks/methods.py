"""How close is a training step of every method to its own floor: its matrix products, and for grids its gathers?

One step: the gradient of a batch of 8,192 of the samples of a 512×512 colour picture in pieces of 4,096, and the
optimiser's update, at the method's default setting. The floor is read off the method itself: its products and gathers
are recorded while it is evaluated once, and repeated with nothing between them, forward and backward. Both are timed in
turns in one process; the best of the repetitions counts.

    python benchmarks/methods.py [--json] [--repeat 5] [--only siren,wire]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from alfilter.core.memory import keep_freed_memory
from alfilter.methods import METHODS, Field, build, parameter_count, training
from alfilter.tasks import ImageTask
from alfilter.training.gradient import Team, accumulate_gradient
from alfilter.training.loop import make_optimiser

Step = Callable[[], object]
BATCH, PIECE = 8192, 4096
TARGET = 1.25  # times the floor
_PRODUCTS = {torch.ops.aten.mm.default: 0, torch.ops.aten.addmm.default: 1}  # where the first factor stands
_GATHERS = (torch.ops.aten.index.Tensor, torch.ops.aten.index_select.default, torch.ops.aten.embedding.default)


@dataclass
class Recorder(TorchDispatchMode):
    """Notes the sizes of all matrix products, and the tables and rows of all gathers."""

    products: list[tuple[int, int, int]] = field(default_factory=list)
    gathers: list[tuple[int, int, Tensor]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _PRODUCTS:
            left, right = args[_PRODUCTS[func] : _PRODUCTS[func] + 2]
            self.products.append((left.shape[0], left.shape[1], right.shape[1]))
        elif func in _GATHERS:
            indices = [a for a in (*args[1:], *(args[1] if isinstance(args[1], list) else ())) if _is_index(a)]
            if len(indices) == 1 and indices[0].numel() >= PIECE:
                rows = indices[0].flatten().clone()
                self.gathers.append((args[0].shape[0], args[0].numel() // args[0].shape[0], rows))
        return func(*args, **(kwargs or {}))


def _is_index(a: Any) -> bool:
    return isinstance(a, Tensor) and a.dtype in (torch.int32, torch.int64)


def floor(method: Field, task: ImageTask) -> Step:
    """The products and gathers of a step of this field, and nothing else."""
    recorder = Recorder()
    x, _ = task.load(torch.randperm(len(task.signal))[:PIECE])
    with torch.no_grad(), recorder:
        method.double()(x.double())  # in float64 no kernel hides a product
    method.float()
    pairs = [(torch.randn(n, k), torch.randn(k, m), torch.randn(n, m)) for n, k, m in recorder.products]
    tables = [(torch.randn(size, width), rows) for size, width, rows in recorder.gathers]

    def run() -> None:
        for _ in range(BATCH // PIECE):
            gathered = [torch.index_select(table, 0, rows) for table, rows in tables]
            for left, right, grad in pairs:
                torch.mm(left, right)
                torch.mm(left.t(), grad)
                if left.shape[1] != method.in_dim:  # coordinates need no gradient
                    torch.mm(grad, right.t())
            for (table, rows), values in zip(tables, gathered, strict=True):
                torch.zeros_like(table).index_add_(0, rows, values)

    return run


def step(method: Field, task: ImageTask, name: str) -> Step:
    """One step as `fit` takes it."""
    setting = training(name, "default", batch=BATCH, micro=PIECE)
    team, optimiser = Team(method), make_optimiser(method, setting)
    count = iter(range(1 << 62))

    def run() -> None:
        accumulate_gradient(team, task, setting, next(count), 0)
        optimiser.step(1e-3)
        method.encoding.constrain()

    return run


def measure(name: str, task: ImageTask, repeat: int) -> dict[str, Any]:
    """Best seconds of a step and of its floor, in turns, after two that do not count."""
    made = build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)
    runs = {"step": step(made, task, name), "floor": floor(made, task)}
    best = dict.fromkeys(runs, float("inf"))
    for turn in range(repeat + 2):
        for label, run in runs.items():
            began = time.perf_counter()
            run()
            if turn > 1:
                best[label] = min(best[label], time.perf_counter() - began)
    return {
        "method": name,
        "params": parameter_count(made),
        "ms": 1e3 * best["step"],
        "floor ms": 1e3 * best["floor"],
        "ratio": best["step"] / best["floor"],
        "points per second": BATCH / best["step"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="time a training step of every method against its own floor")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions of everything")
    parser.add_argument("--only", help="methods, separated by commas")
    arguments = parser.parse_args()
    keep_freed_memory()
    task = ImageTask.from_file("sample:astronaut")
    names = arguments.only.split(",") if arguments.only else list(METHODS)
    if not arguments.json:
        print(f"{'method':18}{'params':>10}{'step ms':>9}{'floor ms':>10}{'ratio':>7}{'points/s':>11}   ≤ {TARGET}")
    rows = []
    for name in names:
        row = measure(name, task, arguments.repeat)
        rows.append(row)
        if not arguments.json:
            verdict = "yes" if row["ratio"] <= TARGET else "no"
            numbers = f"{row['ms']:9.1f}{row['floor ms']:10.1f}{row['ratio']:7.2f}{row['points per second']:11,.0f}"
            print(f"{name:18}{row['params']:10,}{numbers}   {verdict}", flush=True)
    if arguments.json:
        print(json.dumps({"threads": torch.get_num_threads(), "rows": rows}))


if __name__ == "__main__":
    main()
