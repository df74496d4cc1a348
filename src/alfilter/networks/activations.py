"""Activations as rows of data: a layer function and the bounds of its uniform starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from alfilter.core import affine_relu, affine_sine

Layer = Callable[[Tensor, Tensor, Tensor, float], Tensor]
Bound = Callable[[int, float], float]


@dataclass(frozen=True)
class Activation:
    """One activation: how a layer is computed and how its weights start.

    layer: (x, W, b, ω) → values. first, hidden, last: half-width of the uniform start of the weights for a given number
    of inputs and ω; `first` None takes the bounds the encoding asks for. Biases start at U(±1/√n) everywhere.
    """

    layer: Layer
    first: Bound | None
    hidden: Bound
    last: Bound


def _fan_in(inputs: int, omega: float) -> float:
    """torch's own rule for linear layers, U(±1/√n)."""
    del omega
    return 1 / math.sqrt(inputs)


def _siren(inputs: int, omega: float) -> float:
    """SIREN's rule, U(±√(6/n)/ω): pre-activations keep about unit variance at any depth."""
    return math.sqrt(6 / inputs) / omega


def _relu(x: Tensor, weight: Tensor, bias: Tensor, omega: float) -> Tensor:
    del omega
    return affine_relu(x, weight, bias)


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(_relu, first=_fan_in, hidden=_fan_in, last=_fan_in),
    "sine": Activation(affine_sine, first=None, hidden=_siren, last=_siren),
}
