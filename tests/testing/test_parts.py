"""The contracts notice what is broken: each of these breaks one promise."""

from __future__ import annotations

import pytest
import torch
from tests.support.encodings import Sound
from torch import Tensor, nn

from alfilter.encodings import Encoding, Fourier
from alfilter.networks import MLP, Network
from alfilter.testing import check_encoding, check_network


class WrongSize(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.out_dim = 3


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


class HalvesFar(Sound):
    def constrain(self) -> None:
        with torch.no_grad():
            self.slope.mul_(torch.where(self.slope.abs() > 100, 0.5, 1.0))


class Negative(Sound):
    def smoothness(self, reduction: str = "sum") -> Tensor:
        return torch.tensor(-1.0)


class FirstTwo(Sound):
    """Right for two coordinates, and for no other number of them."""

    def __init__(self, in_dim: int) -> None:
        super().__init__(in_dim)
        self.out_dim = 2


class Affine(Network):
    """W f + b; keeps all promises."""

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__(in_dim, out_dim)
        self.weight = nn.Parameter(torch.linspace(-1, 1, in_dim * out_dim).view(out_dim, in_dim))
        self.bias = nn.Parameter(torch.full((out_dim,), 0.1))

    def forward(self, features: Tensor) -> Tensor:
        return nn.functional.linear(features, self.weight, self.bias)


class ExtraValue(Affine):
    def forward(self, features: Tensor) -> Tensor:
        out = super().forward(features)
        return torch.cat((out, out[..., :1]), dim=-1)


class NoBias(Affine):
    def forward(self, features: Tensor) -> Tensor:
        return nn.functional.linear(features, self.weight)


class Noisy(Affine):
    def forward(self, features: Tensor) -> Tensor:
        return super().forward(features) + torch.rand(()).to(features) * 1e-3


class BatchMean(Affine):
    def forward(self, features: Tensor) -> Tensor:
        out = super().forward(features)
        return out - out.mean(dim=0, keepdim=True) if out.dim() > 1 and out.numel() else out


class WrongLast(Affine):
    def scales(self, features: Tensor) -> Tensor:
        return torch.stack((self(features), 2 * self(features)))


class PairOutput(Affine):
    def forward(self, features: Tensor) -> Tensor:
        out = super().forward(features)
        return out, out  # type: ignore[return-value]


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
        (HalvesFar, r"constrain\(\) of HalvesFar is not idempotent"),
        (Negative, "must not be negative, got -1.0"),
    ],
)
def test_a_broken_promise_is_named(broken: type[Encoding], text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        check_encoding(broken())  # type: ignore[call-arg]


def test_a_class_is_checked_for_every_number_of_coordinates() -> None:
    check_encoding(Sound)
    check_encoding(lambda in_dim: Fourier(in_dim, levels=2))
    with pytest.raises(AssertionError, match=r"FirstTwo declares out_dim 2: for \(1,\)"):
        check_encoding(FirstTwo)


def test_what_makes_no_encoding_is_refused() -> None:
    with pytest.raises(AssertionError, match=r"Fourier cannot be made from \(1,\): .*give an instance instead"):
        check_encoding(Fourier)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="must make an instance of Encoding, got int"):
        check_encoding(abs)
    with pytest.raises(AssertionError, match="expected an instance of Encoding or what makes one, got str"):
        check_encoding("fourier")  # type: ignore[arg-type]


def test_a_sound_network_passes() -> None:
    check_network(Affine(3, 2))
    check_network(Affine)
    check_network(lambda in_dim, out_dim: MLP(in_dim, out_dim, width=4, depth=1, activation="relu"))


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (ExtraValue, "ExtraValue declares out_dim 2: .* got .3,"),
        (NoBias, "NoBias has no gradient in bias"),
        (Noisy, "Noisy gives other values one by one"),
        (BatchMean, "BatchMean gives other values one by one"),
        (WrongLast, "the last of the outputs of WrongLast is not what it returns"),
        (PairOutput, "PairOutput must return a tensor, got tuple"),
    ],
)
def test_a_broken_network_is_named(broken: type[Affine], text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        check_network(broken(3, 2))
