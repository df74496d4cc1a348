"""Let an encoding look at the signal and at its own error while it is trained."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.tasks.base import Task
from alfilter.training.gradient import on_device

Pieces = Iterator[tuple[Tensor, Tensor]]
_LOOKED_AT = 1 << 18  # samples of a larger signal that are shown


def adapt(field: Field, task: Task, setting: Training, step: int, seed: int, progress: float) -> None:
    """Give the field's encoding its chance to adapt after `step` steps; for most nothing is even computed."""

    def samples() -> Pieces:
        size = min(task.batch_size(None), _LOOKED_AT)
        for piece in task.pieces(step, seed ^ 0x10C, size, setting.micro):
            x, y = on_device(task.load(piece), field)
            yield x, y[..., : task.out_dim]  # weights of the samples, where there are some, come after the values

    def errors() -> Pieces:
        with torch.no_grad():
            for x, y in samples():
                yield x, (field(x) - y).square().mean(-1)

    field.adapt(step, progress, samples, errors)
