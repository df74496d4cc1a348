"""What a fit does before its clock runs: it chooses the fastest way to compute a step here, and compiles for it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.runtime.distributed import Processes
from alfilter.runtime.thread_pool import flushed_denormals, workers
from alfilter.runtime.ways import WAYS, fastest_way, library_products, time_in_turns, use_way
from alfilter.tasks.base import Chunk, Task
from alfilter.training.adam import Adam
from alfilter.training.gradient import gradient_of_chunks, has_compiled_step, on_device
from alfilter.training.precompile import precompile

_HOPELESS = 0.9  # of the default's time: with passes between them, products that take longer gain nothing


def prepare(
    field: Field, task: Task, setting: Training, optimiser: Adam, processes: Processes, way: str | None = None
) -> str:
    """Choose how a fit computes its steps, the same in all processes, and have its kernels in the cache.

    way: of the run that is continued.
    """
    if way is None:
        way = setting.kernels if setting.kernels != "auto" else _agreed(field, task, setting, optimiser, processes)
    with use_way(way):
        precompile(field, task, setting, optimiser)
    return way


def _agreed(field: Field, task: Task, setting: Training, optimiser: Adam, processes: Processes) -> str:
    """The main process's choice."""
    own = WAYS.index(choose_way(field, task, setting, optimiser)) if processes.is_main else 0
    return WAYS[round(processes.from_main(float(own)))]


def choose_way(field: Field, task: Task, setting: Training, optimiser: Adam) -> str:
    """The fastest way on this machine. A grid's step is one compiled call whatever the way; no other comes near it."""
    with use_way(WAYS[1]):
        is_grid = has_compiled_step(field, task)
    if is_grid or next(field.parameters()).device.type != "cpu":
        return WAYS[0]
    rows = min(setting.micro, -(-task.batch_size(setting.batch) // workers()))
    kind = repr((field.spec, [tuple(p.shape) for p in field.parameters()], type(task).__qualname__, rows))
    return fastest_way(kind, lambda: measure_ways(field, task, setting, optimiser, rows))


@flushed_denormals()
def measure_ways(field: Field, task: Task, setting: Training, optimiser: Adam, rows: int) -> dict[str, float]:
    """Seconds of one pass, by the default way and by all that might be faster.

    The library's products alone are measured first, so that where they take as long as everything nothing is compiled
    that no fit will call.
    """
    chunk = on_device(task.load(task.pieces(0, 0, setting.batch, rows)[0]), field)
    with torch.random.fork_rng(devices=[]):
        default, perceptron = one_pass(field, chunk, WAYS[0], task, setting, optimiser), field.network.perceptrons()
        if perceptron is not None:
            products = library_products(
                [weight.shape for layers in perceptron.layers for weight, _ in layers], len(chunk[0])
            )
            first = time_in_turns({WAYS[0]: default, "products": products})
            if first["products"] > _HOPELESS * first[WAYS[0]]:
                return {WAYS[0]: first[WAYS[0]]}
        others = {way: one_pass(field, chunk, way, task, setting, optimiser) for way in WAYS[1:]}
        return time_in_turns({WAYS[0]: default, **others})


def one_pass(
    field: Field, chunk: Chunk, way: str, task: Task, setting: Training, optimiser: Adam
) -> Callable[[], None]:
    """The gradient of the loss of a copy of the field on some samples, computed this way; its kernels are compiled."""
    replica = copy.deepcopy(field)
    with use_way(way):
        precompile(field, task, setting, optimiser)
        learn = gradient_of_chunks(replica, task)

    def run() -> None:
        with use_way(way):
            replica.zero_grad(set_to_none=True)
            learn(chunk)

    return run
