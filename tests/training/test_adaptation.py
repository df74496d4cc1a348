"""What an encoding is shown while it is trained."""

from __future__ import annotations

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.encodings import Encoding, Situation
from alfilter.methods import Field
from alfilter.networks import MLP
from alfilter.testing.methods import tiny_task
from alfilter.training import fit
from alfilter.training.adaptation import adapt


class Curious(Encoding):
    """Keeps what it is shown."""

    def __init__(self) -> None:
        super().__init__(2, 2)
        self.seen: list[tuple[int, float, int, float]] = []

    def forward(self, x: Tensor) -> Tensor:
        return x

    def adapt(self, situation: Situation) -> None:
        count = sum(len(x) for x, _ in situation.samples())
        error = torch.cat([e for _, e in situation.errors()])
        self.seen.append((situation.step, situation.progress, count, error.mean().item()))


def curious() -> tuple[Curious, Field]:
    encoding = Curious()
    network = MLP(2, 3, width=4, depth=1, activation="relu", generator=torch.Generator().manual_seed(0))
    return encoding, Field(encoding, network)


def test_all_samples_and_the_fields_own_error_are_shown() -> None:
    encoding, field = curious()
    task = tiny_task()
    adapt(field, task, Training(micro=7), 0, 0, 0.0)
    x, y = task.load(slice(0, 96))
    expected = (field(x) - y).square().mean().item()
    ((step, progress, count, error),) = encoding.seen
    assert (step, progress, count) == (0, 0.0, 96)
    assert abs(error - expected) < 1e-6


def test_before_the_first_step_and_after_every_step() -> None:
    encoding, field = curious()
    fit(field, tiny_task(), steps=4, lr=1e-2)
    assert [(step, progress) for step, progress, *_ in encoding.seen] == [(i, i / 4) for i in range(5)]
