"""How many points per second does a hash grid train, and a SIREN of three layers of 256, on one core?

A step is the gradient of a batch of a 512×512 colour picture and the optimiser's update, each method at its preset
`default`. All are timed in turns in one process, on one thread; the median of the repetitions counts.

    python benchmarks/hashgrid.py [--json] [--repeat 7]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from statistics import median

import torch

from alfilter.methods import build, parameter_count, training
from alfilter.runtime.memory import keep_freed_memory
from alfilter.tasks import ImageTask
from alfilter.training.gradient import GradientWorkers, accumulate_gradient
from alfilter.training.loop import make_optimiser
from machine import machine

METHODS = ("siren", "hash-grid", "diner", "filter-bank")
STEPS = 4  # a repetition


def stepper(name: str, task: ImageTask) -> tuple[Callable[[], None], int, int]:
    """Some steps as `fit` takes them, the points they see, and the parameters they train."""
    field = build(name, in_dim=2, out_dim=3, samples=task.samples, preset="default")
    setting, workers = training(name, "default"), GradientWorkers(field)
    optimiser = make_optimiser(field, setting)

    def run() -> None:
        for step in range(STEPS):
            accumulate_gradient(workers, task, setting, step, 0, whole=not optimiser.adds_up())
            optimiser.step(sums=workers.take_sums())
            field.encoding.constrain()

    return run, STEPS * task.batch_size(setting.batch), parameter_count(field)


def main() -> None:
    parser = argparse.ArgumentParser(description="points per second of the grid methods against siren, one thread")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=7, help="repetitions of everything")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    task = ImageTask.from_file("sample:astronaut")
    steps = {name: stepper(name, task) for name in METHODS}
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}  # of a point
    for turn in range(arguments.repeat + 1):
        for name, (run, points, _) in steps.items():
            began = time.perf_counter()
            run()
            if turn > 0:  # the first compiles and warms up
                seconds[name].append((time.perf_counter() - began) / points)
    usual = {name: median(times) for name, times in seconds.items()}
    rows = {
        name: {"points per second": round(1 / each), "times siren": usual["siren"] / each, "params": steps[name][2]}
        for name, each in usual.items()
    }
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": rows}))
        return
    print(machine())
    for name, row in rows.items():
        print(f"{name:14}{row['points per second']:>12,} points/s{row['times siren']:7.2f} × siren{row['params']:>12,}")


if __name__ == "__main__":
    main()
