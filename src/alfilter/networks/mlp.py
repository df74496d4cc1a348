"""The multilayer perceptron of Eqs. z1_filtered to output_layer; activations differ by a row of data."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from alfilter.core import affine
from alfilter.networks.activations import ACTIVATIONS
from alfilter.networks.base import Network, uniform
from alfilter.ops import perceptron
from alfilter.ops.grid_mlp import Perceptrons
from alfilter.ops.mlp import PERCEPTRON_ACTIVATIONS


class MLP(Network):
    """z ← σ(W z + b) for `depth` hidden layers of `width`, then a linear output.

    depth counts the activated layers, as the paper's k-1 does (the SIREN code's `hidden_layers` is one less).
    omega, sharpness: the numbers of the activations that have them; learn_sharpness makes the second one a parameter of
    every hidden layer. first_bound: half-widths of the first layer's uniform start per input, for activations that take
    them from the encoding; None applies SIREN's 1/C. first_bias: half-width of the first biases' start; None is 1/√C.

    >>> MLP(32, 3, width=256, depth=3, activation="relu")(torch.zeros(4, 32)).shape
    torch.Size([4, 3])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        width: int,
        depth: int,
        activation: str,
        omega: float = 1.0,
        sharpness: float = 1.0,
        learn_sharpness: bool = False,
        first_bound: Tensor | None = None,
        first_bias: float | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, out_dim)
        self.activation, self.omega, self.sharpness = activation, omega, sharpness
        self.row = ACTIVATIONS[activation]
        sizes = list(pairwise([in_dim, *[width] * depth, out_dim]))
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for position, (inputs, outputs) in enumerate(sizes):
            bound = self._bound(position, len(sizes), inputs, first_bound)
            self.weights.append(nn.Parameter(uniform((outputs, inputs), bound, generator)))
            offset = 1 / math.sqrt(inputs) if position > 0 or first_bias is None else first_bias
            self.biases.append(nn.Parameter(uniform((outputs,), offset, generator)))
        self.learned = nn.Parameter(torch.full((depth,), sharpness)) if learn_sharpness else None

    def forward(self, features: Tensor) -> Tensor:
        if self.learned is None and self.activation in PERCEPTRON_ACTIVATIONS:
            numbers = self.activation, self.omega, self.sharpness
            return perceptron(features, list(self.weights), list(self.biases), *numbers)
        z = features
        *hidden, (weight, bias) = self.layers()
        for i, (w, b) in enumerate(hidden):
            sharpness = self.sharpness if self.learned is None else self.learned[i]
            z = self.row.layer(z, w, b, self.omega, sharpness)  # (..., width)
        return affine(z, weight, bias)

    def perceptrons(self) -> Perceptrons | None:
        """None where the sharpness is learned."""
        return None if self.learned is not None else Perceptrons([self.layers()], self.activation, self.omega)

    def layers(self) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases of every layer."""
        return list(zip(self.weights, self.biases, strict=True))

    def _bound(self, position: int, count: int, inputs: int, first_bound: Tensor | None) -> float | Tensor:
        if position == count - 1:
            return self.row.last(inputs, self.omega)
        if position > 0:
            return self.row.hidden(inputs, self.omega)
        if self.row.first is not None:
            return self.row.first(inputs, self.omega)
        return 1 / inputs if first_bound is None else first_bound
