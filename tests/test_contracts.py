"""The contracts notice what is broken: each of these breaks one promise."""

from __future__ import annotations

import pytest
import torch
from tests.support.contracts import check_encoding, check_seeds
from torch import Tensor, nn

from alfilter.encodings import Encoding


class Sound(Encoding):
    """A learned line through every coordinate; keeps all promises."""

    def __init__(self, in_dim: int = 2) -> None:
        super().__init__(in_dim, in_dim)
        self.slope = nn.Parameter(torch.linspace(0.5, 1.0, in_dim))

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(x * self.slope)

    def constrain(self) -> None:
        with torch.no_grad():
            self.slope.clamp_(-2, 2)


class WrongSize(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.out_dim = 3


class NoEmptyBatch(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).view(*x.shape[:-1], -1)


class Forgets(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(x * self.slope.detach())


class HalfSlope(Sound):
    """The value is right; half of the gradient is lost on the way."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(x * (self.slope + self.slope.detach()) / 2)


class Averages(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean() if x.dim() > 1 and x.numel() else x)


class Restless(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.rand(()).to(x) * 1e-6


class Narrow(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).float()


class Shrinks(Sound):
    def constrain(self) -> None:
        with torch.no_grad():
            self.slope.mul_(0.5)


class Negative(Sound):
    def smoothness(self, reduction: str = "sum") -> Tensor:
        return torch.tensor(-1.0)


def test_a_sound_encoding_passes() -> None:
    for in_dim in (1, 2, 4):
        check_encoding(Sound(in_dim))


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (WrongSize, "WrongSize declares out_dim 3"),
        (Forgets, "Forgets has no gradient in slope"),
        (HalfSlope, "first derivatives of HalfSlope are wrong"),
        (Averages, "other values one by one"),
        (Restless, "Restless gives another result the second time"),
        (Narrow, "Narrow answers torch.float64 with torch.float32"),
        (Shrinks, r"constrain\(\) changes a new Shrinks"),
        (Negative, "must not be negative, got -1.0"),
    ],
)
def test_a_broken_promise_is_named(broken: type[Encoding], text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        check_encoding(broken())  # type: ignore[call-arg]


def test_an_empty_batch_is_tried() -> None:
    with pytest.raises(RuntimeError, match="cannot reshape tensor of 0 elements"):
        check_encoding(NoEmptyBatch())


def test_a_start_from_the_global_numbers_is_noticed() -> None:
    with pytest.raises(AssertionError, match="draws from torch's global random numbers"):
        check_seeds(lambda seed: nn.Linear(2, 2))


def test_a_start_that_ignores_its_seed_is_noticed() -> None:
    with pytest.raises(AssertionError, match="starts the same for two seeds"):
        check_seeds(lambda seed: Sound())
