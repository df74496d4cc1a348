"""WIRE's complex network, in real arithmetic."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from alfilter.networks.base import Network, uniform
from alfilter.ops import perceptron


class ComplexWavelet(Network):
    """z ← exp(jω z' - |s z'|²), z' = W z + b, with complex weights; the output's real part (Saragadam et al. 2023).

    width: complex neurons per layer. The first layer's weights are real, like the coordinates. Real and imaginary parts
    start at U(±1/√n) each, torch's rule for complex linear layers.

    A complex product is a real one with the matrix [[Wr, -Wi], [Wi, Wr]] on all real and then all imaginary parts: the
    same multiplications, by the faster routine.

    Differs from the source in leaving out the imaginary part of the last bias, which nothing depends on.

    >>> ComplexWavelet(2, 3, width=8, depth=3, omega=20.0, scale=30.0)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        width: int,
        depth: int,
        omega: float,
        scale: float,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, out_dim)
        self.omega, self.scale = omega, scale
        first, rest = 1 / math.sqrt(in_dim), 1 / math.sqrt(width)
        self.first = nn.Parameter(uniform((width, in_dim), first, generator))
        self.first_bias = nn.Parameter(uniform((width,), first, generator))
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()  # (2, outputs, inputs), (2, outputs)
        for _ in range(depth - 1):
            self.weights.append(nn.Parameter(uniform((2, width, width), rest, generator)))
            self.biases.append(nn.Parameter(uniform((2, width), rest, generator)))
        self.last = nn.Parameter(uniform((2, out_dim, width), rest, generator))
        self.last_bias = nn.Parameter(uniform((out_dim,), rest, generator))

    def forward(self, features: Tensor) -> Tensor:
        return perceptron(features, *self.real_layers(), "complex-wavelet", self.omega, self.scale)

    def real_layers(self) -> tuple[list[Tensor], list[Tensor]]:
        """Weights and biases of the same network in real numbers, for `perceptron`."""
        weights = [torch.cat((self.first, torch.zeros_like(self.first)))]  # (2w, C): a real layer has no imaginary part
        biases = [torch.cat((self.first_bias, torch.zeros_like(self.first_bias)))]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            weights.append(_as_real(weight))  # (2w, 2w)
            biases.append(bias.flatten())
        weights.append(torch.cat((self.last[0], -self.last[1]), dim=1))  # (c, 2w): the real part alone
        biases.append(self.last_bias)
        return weights, biases


def _as_real(weight: Tensor) -> Tensor:
    """[[Wr, -Wi], [Wi, Wr]] of W = (Wr, Wi). (2, m, n) → (2m, 2n)."""
    real, imaginary = weight
    return torch.cat((torch.cat((real, -imaginary), dim=1), torch.cat((imaginary, real), dim=1)))
