"""`until`: stop training once a target quality is reached."""

from __future__ import annotations

import torch

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.runtime.thread_pool import flushed_denormals, parallel_map
from alfilter.tasks.base import Task
from alfilter.training.checkpoint import Position
from alfilter.training.gradient import on_device

_HORIZON = 20  # steps that the running mean of the loss looks back
_SAMPLES = 1 << 16  # samples that confirm it


def update_running_loss(position: Position, loss: float) -> None:
    """Take the loss of one more step into the running mean: l̄ + (l - l̄)/min(t, 20)."""
    before = position.smoothed if position.smoothed is not None else loss
    horizon = max(1, min(position.step - position.first_step, _HORIZON))
    position.smoothed = before + (loss - before) / horizon


def seems_reached(position: Position, task: Task, setting: Training) -> bool:
    """Whether the running mean is good enough to look closer."""
    if setting.until is None or position.smoothed is None or position.step < position.look_at:
        return False
    return task.quality(position.smoothed) >= setting.until


def record_quality(position: Position, quality: float, setting: Training) -> None:
    """Note whether a measured quality is the one to reach; if not, none is measured again for a while."""
    position.reached = setting.until is not None and quality >= setting.until
    position.look_at = position.step + max(_HORIZON, position.step // 20)


def measured_quality(field: Field, task: Task, setting: Training, seed: int) -> float:
    """The quality of the field as it is, on all seen samples or on many of them, the same ones every time."""
    size = min(task.batch_size(None), _SAMPLES)

    def loss(piece: object) -> tuple[float, int]:
        x, y = on_device(task.load(piece), field)
        with torch.no_grad(), flushed_denormals():
            return task.loss(field(x), y).item(), len(x)

    parts = parallel_map(loss, task.pieces(0, seed ^ 0x60A1, size, setting.micro))
    return task.quality(sum(part for part, _ in parts) / sum(count for _, count in parts))
