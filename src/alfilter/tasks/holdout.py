"""A task that holds out some of another's seen samples, to judge a setting by samples it did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from alfilter.core.residual_loss import ResidualLoss
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, Scores
from alfilter.evaluate.sampling import POINTS
from alfilter.tasks.base import Chunk, EpochSampler, Task, step_generator
from alfilter.tasks.gap_filling import Filling
from alfilter.tasks.grid import GridTask
from alfilter.tasks.points import PointTask


class HoldoutTask(Task):
    """The seen samples of a task without a share of them, drawn at random; `judge` scores a field on that share."""

    def __init__(self, task: GridTask | PointTask, share: float = 0.2, seed: int = 0) -> None:
        count = round(share * task.count)
        if count < 1 or count >= task.count:
            raise UserError(f"expected at least {round(1 / share)} seen samples to keep some back, got {task.count}")
        self.task = task
        self.in_dim, self.out_dim, self.samples = task.in_dim, task.out_dim, task.samples
        order = torch.randperm(task.count, generator=step_generator(seed, 0xA7))
        self.validation, self.training = order[:count].sort().values, order[count:].sort().values
        self._sampler = EpochSampler(len(self.training))
        self._filling: Filling | None = None

    def observation(self) -> tuple[int, int] | None:
        _, total = self.task.observation()
        return len(self.training), total

    def filling(self) -> Filling | None:
        """Filled from the training samples alone, so that it knows nothing of the others."""
        if self._filling is None:
            self._filling = self.task.filling_of(self.training)
        return self._filling

    def batch_size(self, batch: int | None) -> int:
        return len(self.training) if batch is None else min(batch, len(self.training))

    def pieces(self, step: int, seed: int, batch: int | None, micro: int) -> Sequence[Tensor]:
        size = self.batch_size(batch)
        index = self.training if size == len(self.training) else self.training[self._sampler.index(step, seed, size)]
        return torch.split(index, micro)

    def load(self, piece: Any) -> Chunk:
        return self.task.load(piece)

    def output_range(self) -> tuple[Tensor, Tensor]:
        return self.task.output_range()

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return self.task.loss(prediction, target)

    def loss_and_grad(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        return self.task.loss_and_grad(prediction, target)

    def residual_loss(self) -> ResidualLoss | None:
        return self.task.residual_loss()

    def quality(self, loss: float) -> float:
        return self.task.quality(loss)

    def judge(self, field: Evaluate) -> float:
        """The quality (dB) of a field on the samples that were held out."""
        total = 0.0
        with torch.inference_mode():
            for piece in torch.split(self.validation, POINTS):
                x, y = self.task.load(piece)
                total += self.task.loss(field(x), y).item()
        return self.quality(total / len(self.validation))

    def evaluate(self, field: Evaluate) -> Scores:
        return Scores({"psnr": self.judge(field)}, None)

    def describe(self) -> dict[str, Any]:
        return self.task.describe()
