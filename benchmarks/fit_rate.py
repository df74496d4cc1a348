"""How many samples per second does `fit` really deliver, next to plain PyTorch and to the methods' floors?

Every method at its preset `default` on a 512×512 colour picture, in rounds of two seconds of `fit`, in turns with a
plain PyTorch hash grid of the same sizes (`plain_hash_grid.py`) and with the methods' floors at their own batch
(`methods.py`). What counts is the median over all steps of a method, progress and log lines included, and ratios of
medians from the same run; beside it stand the mean, which is what a whole run gets, and the best step.

    python benchmarks/fit_rate.py [--seconds 20] [--avx2] [--json] [--only al-sine,al-grid,hash-grid]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from alfilter import fit
from alfilter.methods import Field, build, training
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.tasks import ImageTask
from alfilter.training.adaptation import adapt
from machine import add_avx2, hold_to_avx2, machine
from methods import floor
from plain_hash_grid import plain_step

NAMES = ("al-sine", "al-grid", "hash-grid")
_ROUND, _SKIPPED = 2.0, 10  # seconds of a round; its first steps, which start threads and fill caches, do not count


def fit_seconds(name: str, task: ImageTask) -> list[float]:
    """Seconds of each step of a round of `fit`."""
    field = build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)
    moments: list[float] = []
    setting = training(name, "default", task.density(), budget=_ROUND)
    fit(field, task, training=setting, on_progress=lambda _: moments.append(time.perf_counter()))
    return [after - before for before, after in pairwise(moments[min(_SKIPPED, len(moments) // 2) :])]


def repeated_seconds(run: Callable[[], object]) -> list[float]:
    """Seconds of each call of a round."""
    seconds: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < _ROUND:
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


def floor_of(name: str, task: ImageTask, after: ExitStack) -> Callable[[], object]:
    """The products and gathers of a step at the method's own batch, by as many processes as the step."""
    setting = training(name, "default", task.density())
    field: Field = build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)
    adapt(field, task, setting, 0, 0, 0.0)
    batch = task.batch_size(setting.batch)
    piece = task.pieces(0, 0, batch, min(setting.micro, batch // workers()))[0]
    return floor(field, task, task.load(piece), batch, after)


def measure(names: list[str], task: ImageTask, seconds: float) -> dict[str, Any]:
    """Medians of steps, in turns."""
    steps: dict[str, list[float]] = {}
    peer, batch = plain_step(task)
    with ExitStack() as after:
        with single_threaded_ops():  # as `fit` runs
            floors = {name: floor_of(name, task, after) for name in names}
        for turn in range(1 + max(1, round(seconds / _ROUND))):
            if turn == 1:
                steps.clear()  # the first round compiled and warmed up
            for name in names:
                steps.setdefault(name, []).extend(fit_seconds(name, task))
                with single_threaded_ops():
                    steps.setdefault(f"{name} floor", []).extend(repeated_seconds(floors[name]))
            steps.setdefault("plain", []).extend(repeated_seconds(peer))
    middle = {label: median(times) for label, times in steps.items()}
    rows = {
        name: {
            "step ms": 1e3 * middle[name],
            "samples per second": batch_of(name, task) / middle[name],
            "mean": batch_of(name, task) / mean(steps[name]),
            "best": batch_of(name, task) / min(steps[name]),
            "times its floor": middle[name] / middle[f"{name} floor"],
            "times plain": batch_of(name, task) / middle[name] * middle["plain"] / batch,
        }
        for name in names
    }
    times = steps["plain"]
    rates = {"samples per second": batch / middle["plain"], "mean": batch / mean(times), "best": batch / min(times)}
    rows["plain"] = {"step ms": 1e3 * middle["plain"], **rates}
    return rows


def batch_of(name: str, task: ImageTask) -> int:
    """Samples of a step."""
    return task.batch_size(training(name, "default", task.density()).batch)


def main() -> None:
    parser = argparse.ArgumentParser(description="the rate that fit delivers")
    add_avx2(parser)
    parser.add_argument("--seconds", type=float, default=20.0, help="of every method")
    parser.add_argument("--only", default=",".join(NAMES), help="methods, separated by commas")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    keep_freed_memory()
    rows = measure(arguments.only.split(","), ImageTask.from_file("sample:astronaut"), arguments.seconds)
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": rows}))
        return
    print(machine())
    print(f"{'':12}{'step, ms':>10}{'samples/s':>13}{'mean':>13}{'best':>13}{'× floor':>9}{'× plain':>9}")
    for name, row in rows.items():
        ratios = "".join(f"{row[key]:9.2f}" if key in row else "" for key in ("times its floor", "times plain"))
        rates = "".join(f"{row[key]:13,.0f}" for key in ("samples per second", "mean", "best"))
        print(f"{name:12}{row['step ms']:10.2f}{rates}{ratios}")
    if {"al-grid", "hash-grid"} <= rows.keys():
        share = rows["al-grid"]["samples per second"] / rows["hash-grid"]["samples per second"]
        print(f"al-grid has {share:.2f} of hash-grid's samples per second")


if __name__ == "__main__":
    main()
