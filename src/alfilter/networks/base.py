"""What every network is: features (..., C) to values (..., c); and how weights are initialised."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from alfilter.errors import UserError
from alfilter.ops.compiled_step import Perceptrons


class Network(nn.Module, ABC):
    """Maps features to values. in_dim: features C. out_dim: values c."""

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.in_dim = in_dim
        self.out_dim = out_dim

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """features: (..., in_dim) → (..., out_dim)."""

    def outputs(self, features: Tensor) -> tuple[Tensor, ...]:
        """All outputs of a network that has several, coarse to fine, each (..., c); the last is what a call returns.

        Training fits every one of them to the signal.
        """
        return tuple(self.scales(features))

    def scales(self, features: Tensor) -> Tensor:
        """`outputs` as one tensor (scales, ..., c): what a network with several defines."""
        return torch.unsqueeze(self(features), 0)

    def onnx(self, graph: Any, features: str) -> str:
        """Append the operations of `forward` to an ONNX graph, and name their result.

        graph: an `alfilter.export.graph.Graph`. features: the name of the features (n, C) in it. A network of your own
        that has this can be exported.
        """
        del graph, features
        name = type(self).__name__
        raise UserError(f"ONNX export does not know the network {name}; give it a method onnx(graph, features)")

    def perceptrons(self) -> Perceptrons | None:
        """What `forward` computes, if it is a perceptron and nothing else: training has a faster way to do it.

        A subclass that overrides `forward` and not this is trained the plain way.
        """
        return None


def uniform(shape: tuple[int, ...], bound: float | Tensor, generator: torch.Generator | None) -> Tensor:
    """Numbers from U(±bound)."""
    return (torch.rand(shape, generator=generator) * 2 - 1) * bound


def linears(
    sizes: Sequence[int], spread: float, generator: torch.Generator | None
) -> tuple[nn.ParameterList, nn.ParameterList]:
    """Linear layers from each size to the next: weights U(±√(spread/n)), biases U(±1/√n); spread 1 is torch's rule."""
    weights, biases = nn.ParameterList(), nn.ParameterList()
    for inputs, outputs in pairwise(sizes):
        weights.append(nn.Parameter(uniform((outputs, inputs), math.sqrt(spread / inputs), generator)))
        biases.append(nn.Parameter(uniform((outputs,), 1 / math.sqrt(inputs), generator)))
    return weights, biases
