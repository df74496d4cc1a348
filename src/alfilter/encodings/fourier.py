"""Encodings without a field of their own: none at all, dyadic, Gaussian."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from alfilter.core import dyadic_encoding, dyadic_rates, encoded_dim, random_features
from alfilter.encodings.base import Encoding
from alfilter.encodings.placement import ENDS, Placement
from alfilter.ops.fourier_mlp import FourierFeatures


class Identity(Encoding):
    """The coordinates themselves (SIREN and the other activation methods)."""

    def __init__(self, in_dim: int) -> None:
        super().__init__(in_dim, in_dim)

    def forward(self, x: Tensor) -> Tensor:
        return x

    def compiled_features(self) -> FourierFeatures:
        return FourierFeatures(torch.zeros(0, self.in_dim), coordinates=True)


class Fourier(Encoding):
    """γ(x), the dyadic positional encoding of Eq. fourier_encoding. placement: see `Placement`.

    >>> Fourier(in_dim=2, levels=8).out_dim
    32
    """

    def __init__(self, in_dim: int, levels: int, placement: Placement = ENDS) -> None:
        super().__init__(in_dim, encoded_dim(in_dim, levels))
        self.levels, self.placement = levels, placement

    def forward(self, x: Tensor) -> Tensor:
        return dyadic_encoding(self.placement.inside(x), self.levels)

    def compiled_features(self) -> FourierFeatures:
        return FourierFeatures(dyadic_rates(self.in_dim, self.levels), self.placement.scale, self.placement.shift)


class RandomFourier(Encoding):
    """[sin(2πBx), cos(2πBx)] with B ~ N(0, σ²) drawn once (Tancik et al. 2020).

    Differs from the source in the domain: coordinates span [-1, 1] here and [0, 1] there, so B is halved, which keeps
    σ's meaning (cycles across the picture) unchanged.
    """

    frequencies: Tensor

    def __init__(self, in_dim: int, features: int, sigma: float, generator: torch.Generator | None = None) -> None:
        super().__init__(in_dim, 2 * features)
        self.register_buffer("frequencies", torch.randn(features, in_dim, generator=generator) * (sigma / 2))

    def forward(self, x: Tensor) -> Tensor:
        return random_features(x, self.frequencies)

    def compiled_features(self) -> FourierFeatures:
        return FourierFeatures((2 * math.pi) * self.frequencies, interleaved=False)
