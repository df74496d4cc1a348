"""How many samples per second do one, two and more workers train than there are cores?

A step as `fit` takes it, at the preset `default` on a 512×512 colour picture; all numbers of workers are timed in
turns, in rounds of a tenth of a second, and the median step counts; beside it the processor time of a step, of all
workers together, on which other programs have little influence.

    python benchmarks/workers.py [--counts 1 2 8] [--only al-sine,hash-grid] [--seconds 8] [--avx2] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from statistics import median

from alfilter.methods import Field, build, training
from alfilter.runtime.fork_pool import cpu_seconds
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops
from alfilter.tasks import ImageTask
from machine import add_avx2, hold_to_avx2, machine
from methods import step

_ROUND = 0.1  # seconds


def field(name: str, task: ImageTask) -> Field:
    return build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)


@single_threaded_ops()
def rates(name: str, task: ImageTask, counts: list[int], seconds: float) -> tuple[dict[int, float], dict[int, float]]:
    """Samples per second, and milliseconds of processor time per step, by the number of workers."""
    times: dict[int, list[float]] = {count: [] for count in counts}
    on_cores: dict[int, list[float]] = {count: [] for count in counts}
    batch = task.batch_size(training(name, "default", task.density()).batch)
    with ExitStack() as after:
        steps = {count: step(field(name, task), task, name, batch, after, count)[0] for count in counts}
        for run in steps.values():
            run()  # starts the workers
        until = time.perf_counter() + seconds * len(counts)
        while time.perf_counter() < until:
            for count, run in steps.items():
                ends = time.perf_counter() + _ROUND
                while (began := time.perf_counter()) < ends:
                    before = cpu_seconds()
                    run()
                    times[count].append(time.perf_counter() - began)
                    on_cores[count].append(cpu_seconds() - before)
    return (
        {count: batch / median(spent) for count, spent in times.items()},
        {count: 1e3 * median(spent) for count, spent in on_cores.items()},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="samples per second by the number of workers")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 8], help="numbers of workers")
    parser.add_argument("--only", default="al-sine,hash-grid", help="methods, separated by commas")
    parser.add_argument("--seconds", type=float, default=8.0, help="of every method and number")
    add_avx2(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    keep_freed_memory()
    task = ImageTask.from_file("sample:astronaut")
    names = arguments.only.split(",")
    results = {name: rates(name, task, arguments.counts, arguments.seconds) for name in names}
    if arguments.json:
        by_name = {"rates": 0, "processor ms": 1}
        print(
            json.dumps({"machine": machine(), **{k: {n: r[i] for n, r in results.items()} for k, i in by_name.items()}})
        )
        return
    print(machine())
    print(f"{'workers':12}" + "".join(f"{count:>12}" for count in arguments.counts))
    for name, (rate, spent) in results.items():
        print(f"{name:12}" + "".join(f"{rate[count]:12,.0f}" for count in arguments.counts) + "   samples/s")
        print(f"{'':12}" + "".join(f"{spent[count]:12.1f}" for count in arguments.counts) + "   processor ms a step")


if __name__ == "__main__":
    main()
