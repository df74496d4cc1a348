"""What does a pass of every method take on one core by each way to compute it, and which one does `fit` take?

The gradient of a piece of the size that the method's `default` trains with, on a 512×512 colour picture: in
blocks with own matrix products, layer by layer with the library's, and by tensor code; beside them, of a perceptron,
the library's products alone. Counted in processor time of one thread, in turns, the least of five: other programs
hardly matter. Grids' steps are one compiled call whatever the way.

    python benchmarks/ways.py [--avx2] [--json] [--only al-sine,siren]
"""

from __future__ import annotations

import argparse
import json

from alfilter.methods import METHODS, build, training
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.runtime.ways import WAYS, library_products, pick, time_in_turns, use_way
from alfilter.tasks import ImageTask
from alfilter.training.gradient import has_compiled_step
from alfilter.training.loop import make_optimiser
from alfilter.training.preparation import one_pass
from machine import add_avx2, hold_to_avx2, machine


@single_threaded_ops()
def measure(name: str, task: ImageTask) -> dict[str, float] | None:
    """Milliseconds by way, and of the products."""
    field = build(name, in_dim=2, out_dim=3, preset="default", samples=task.samples)
    with use_way(WAYS[1]):
        if has_compiled_step(field, task):  # a grid: one compiled call whatever the way
            return None
    setting = training(name, "default", task.density())
    optimiser, perceptron = make_optimiser(field, setting), field.network.perceptrons()
    rows = min(setting.micro, task.batch_size(setting.batch) // workers())
    chunk = task.load(task.pieces(0, 0, setting.batch, rows)[0])
    works = {way: one_pass(field, chunk, way, task, setting, optimiser) for way in WAYS}
    if perceptron is not None:
        works["products"] = library_products([w.shape for layers in perceptron.layers for w, _ in layers], rows)
    return {way: 1e3 * seconds for way, seconds in time_in_turns(works).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="processor time of a pass by each way to compute it")
    add_avx2(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", help="methods, separated by commas")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    keep_freed_memory()
    task = ImageTask.from_file("sample:astronaut")
    names = arguments.only.split(",") if arguments.only else list(METHODS)
    columns = (*WAYS, "products")
    if not arguments.json:
        print(machine())
        print(f"{'method':18}" + "".join(f"{name:>10}" for name in columns) + "   ms; taken")
    results = {}
    for name in names:
        row = measure(name, task)
        if row is None:
            continue
        results[name] = row
        if not arguments.json:
            times = "".join(f"{row[column]:10.1f}" if column in row else f"{'':10}" for column in columns)
            print(f"{name:18}{times}   {pick({way: row[way] for way in WAYS})}", flush=True)
    if arguments.json:
        print(json.dumps({"machine": machine(), "milliseconds": results}))


if __name__ == "__main__":
    main()
