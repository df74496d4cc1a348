"""The network of the Neural Fourier Filter Bank: sine layers that take in one grid level each."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from alfilter.networks.base import Network, linears, uniform
from alfilter.ops.filter_bank import filter_bank


class FilterBank(Network):
    """z_0 = sin(ω(W_0 x+b_0)), z_i = sin(ω(W_i z_{i-1}+b_i)) + sin(2π F_i g_i), values = ReLU network of [z_1 … z_L].

    Source: Wu et al. 2023 (NFFB) and its code for images. The features of grid level i, g_i, pass through frequencies
    F_i ~ N(0, (σ s^i)²) of their own (learned from there), so fine grids reach the network as high frequencies, at the
    depth where its sine layers have grown as high.
    Differs from the source in: no clamp of the output to [-1, 1] (its gradient is zero outside). The source's variant
    for shapes, which sums an output per level, is not built.

    dims: coordinates d. levels: L. features: per level, F. width: of the sine layers. backbone: width of the two ReLU
    layers. sigma, growth: σ and s. Inputs: [x, g_1, …, g_L], d + L F numbers.

    >>> FilterBank(2, 3, levels=4, features=2, width=16, backbone=8, omega=30.0)(torch.zeros(5, 10)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        dims: int,
        out_dim: int,
        *,
        levels: int,
        features: int,
        width: int,
        backbone: int,
        omega: float,
        sigma: float = 5.0,
        growth: float = 2.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(dims + levels * features, out_dim)
        self.dims, self.levels, self.features, self.omega = dims, levels, features, omega
        spread = sigma * growth ** torch.arange(levels)
        draw = torch.randn(levels, width, features, generator=generator)
        self.frequencies = nn.Parameter(draw * spread.view(-1, 1, 1))  # (L, w, F)
        first, hidden = 1 / dims, math.sqrt(6 / width) / omega  # SIREN's starts
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for inputs, bound in ((dims, first), *[(width, hidden)] * levels):
            self.weights.append(nn.Parameter(uniform((width, inputs), bound, generator)))
            self.biases.append(nn.Parameter(uniform((width,), 1 / math.sqrt(inputs), generator)))
        self.merge_weights, self.merge_biases = linears([levels * width, backbone, backbone, out_dim], 1.0, generator)

    def forward(self, features: Tensor) -> Tensor:
        layers = list(zip(self.weights, self.biases, strict=True))
        merge = list(zip(self.merge_weights, self.merge_biases, strict=True))
        return filter_bank(features, layers, self.frequencies, self.omega, merge)
