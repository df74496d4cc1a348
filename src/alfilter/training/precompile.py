"""Compile what a fit calls before its clock runs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.runtime.compilation import compile_once, kernel_calls_of
from alfilter.runtime.ways import current_way
from alfilter.tasks.base import Task
from alfilter.training.adam import Adam, Group
from alfilter.training.gradient import GradientWorkers, accumulate_gradient, on_device

if TYPE_CHECKING:
    from alfilter.runtime.compilation import Call


def precompile(field: Field, task: Task, setting: Training, optimiser: Adam) -> None:
    """Have all kernels of a fit in the cache; where such a fit was prepared before, nothing is done."""
    if next(field.parameters()).device.type == "cpu":
        kind = repr((current_way(), field.spec, type(task).__qualname__, task.in_dim, task.out_dim, setting))
        compile_once(kind, lambda: kernel_calls(field, task, setting, optimiser))


def kernel_calls(field: Field, task: Task, setting: Training, optimiser: Adam) -> list[Call]:
    """What the steps of a fit and an evaluation call: a step on one piece of samples, of a copy, in which kernels are
    recorded instead of run.
    """
    replica = copy.deepcopy(field)
    copies: dict[Tensor, Tensor] = dict(zip(field.parameters(), replica.parameters(), strict=True))
    groups = [Group([copies[p] for p in group.params], group.lr, group.weight_decay) for group in optimiser.groups]
    adam = Adam(groups, amsgrad=optimiser.amsgrad, clip=optimiser.clip)
    piece = cast(Task, _FirstPiece(task))
    # the task keeps these, and kernels may make them: not while kernels are only recorded
    if setting.fill > 0:
        task.filling()
    if setting.detail > 0:
        task.pyramid()
    task.prepare(0, 0, setting.batch)

    def step_and_evaluation() -> None:
        with closing(GradientWorkers(replica, count=1)) as one:
            accumulate_gradient(one, piece, setting, 0, 0, whole=not adam.adds_up())
            adam.step(1.0, one.take_sums())
        replica.encoding.constrain()
        with torch.inference_mode():
            replica.eval()
            replica(on_device(task.load(task.pieces(0, 0, setting.batch, setting.micro)[0]), replica)[0])

    with torch.random.fork_rng(devices=[]):
        return kernel_calls_of(step_and_evaluation)


class _FirstPiece:
    """A task whose steps are the first piece of its own."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    def pieces(self, step: int, seed: int, batch: int | None, micro: int) -> Sequence[Any]:
        return self._task.pieces(step, seed, batch, micro)[:1]
