"""Poly-INR: a polynomial of the coordinates built level by level, without any encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from alfilter.networks.base import Network, uniform
from alfilter.ops.polynomial import polynomial


class PolyINR(Network):
    """z ← l(W_0(A_0 x + c_0) + b_0); z ← l(W_i(z ⊙ l(A_i x + c_i)) + b_i) for i = 1 … levels-1; then a linear output.

    l is the leaky ReLU (Singh et al. 2023). Every level multiplies the features with an affine map of the coordinates,
    so the degree grows by one per level: with slope 1 the network is a polynomial of degree `levels` exactly.

    Differs from the source in being fitted: there a mapping network makes every A and c from a latent code and from the
    level before, which for one signal is one affine map per level, learned here directly. The source clamps features to
    ±256; here the start keeps their size instead: W as He et al. for leaky ReLUs, A and c such that l(Ax + c) has mean
    square one over [-1, 1]^d.

    >>> PolyINR(2, 3, width=8, levels=10, slope=0.2)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        width: int,
        levels: int,
        slope: float,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, out_dim)
        self.slope = slope
        passed = (1 + slope**2) / 2  # share of the mean square that a leaky ReLU lets through
        self.weights, self.biases, self.maps, self.offsets = (nn.ParameterList() for _ in range(4))
        for i in range(levels + 1):
            outputs = width if i < levels else out_dim
            bound = math.sqrt(3 / (passed * width)) if i < levels else 1 / math.sqrt(width)
            self.weights.append(nn.Parameter(uniform((outputs, width), bound, generator)))
            self.biases.append(nn.Parameter(torch.zeros(outputs)))
        for _ in range(levels):
            # half of the mean square from A over the domain, where a coordinate's is 1/3, and half from c
            self.maps.append(nn.Parameter(uniform((width, in_dim), math.sqrt(9 / (2 * passed * in_dim)), generator)))
            self.offsets.append(nn.Parameter(uniform((width,), math.sqrt(3 / (2 * passed)), generator)))

    def forward(self, features: Tensor) -> Tensor:
        parts = list(self.maps), list(self.offsets), list(self.weights), list(self.biases)
        return polynomial(features, parts, self.slope)
