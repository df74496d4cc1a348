"""The multilayer perceptron of Eqs. z1_filtered to output_layer, with any activation and the start that suits it."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from alfilter.core import affine
from alfilter.core.activations import ACTIVATIONS as FUNCTIONS
from alfilter.errors import UserError, nearest
from alfilter.networks.base import Network, uniform
from alfilter.ops import perceptron
from alfilter.ops.compiled_step import Perceptrons

PERIODIC = ("sine", "hosc", "finer", "finer-full")  # layers that start as SIREN's, all others as torch's linear ones
ACTIVATIONS = ("relu", "gauss", "wavelet", "sinc", *PERIODIC)


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
        if activation not in ACTIVATIONS:
            raise UserError(f"there is no activation {activation!r}; {nearest(activation, ACTIVATIONS)}")
        self.activation, self.omega, self.sharpness = activation, omega, sharpness
        sizes = list(pairwise([in_dim, *[width] * depth, out_dim]))
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for position, (inputs, outputs) in enumerate(sizes):
            bound = self._bound(position, inputs, first_bound)
            self.weights.append(nn.Parameter(uniform((outputs, inputs), bound, generator)))
            offset = 1 / math.sqrt(inputs) if position > 0 or first_bias is None else first_bias
            self.biases.append(nn.Parameter(uniform((outputs,), offset, generator)))
        self.learned = nn.Parameter(torch.full((depth,), sharpness)) if learn_sharpness else None

    def forward(self, features: Tensor) -> Tensor:
        if self.learned is None:
            numbers = self.activation, self.omega, self.sharpness
            return perceptron(features, list(self.weights), list(self.biases), *numbers)
        z = features
        *hidden, (weight, bias) = self.layers()
        for (w, b), sharpness in zip(hidden, self.learned, strict=True):
            z = FUNCTIONS[self.activation](affine(z, w, b), self.omega, sharpness)  # (..., width)
        return affine(z, weight, bias)

    def perceptrons(self) -> Perceptrons | None:
        """None where the sharpness is learned."""
        return None if self.learned is not None else Perceptrons([self.layers()], self.activation, self.omega)

    def layers(self) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases of every layer."""
        return list(zip(self.weights, self.biases, strict=True))

    def _bound(self, position: int, inputs: int, first_bound: Tensor | None) -> float | Tensor:
        """Half-width of the uniform start of a layer's weights.

        torch: 1/√n. SIREN: √(6/n)/ω, which keeps the variance of pre-activations at any depth, and in the first layer
        what the encoding says, or 1/n.
        """
        if self.activation not in PERIODIC:
            return 1 / math.sqrt(inputs)
        if position > 0:
            return math.sqrt(6 / inputs) / self.omega
        return 1 / inputs if first_bound is None else first_bound
