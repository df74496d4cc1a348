"""Activations as rows of data: a layer function and the bounds of its uniform starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from alfilter.core import affine, affine_relu, affine_sine
from alfilter.core.activations import ACTIVATIONS as FUNCTIONS
from alfilter.core.activations import Activation as Function

Layer = Callable[[Tensor, Tensor, Tensor, float, "float | Tensor"], Tensor]
Bound = Callable[[int, float], float]


@dataclass(frozen=True)
class Activation:
    """One activation: how a layer is computed and how its weights start.

    layer: (x, W, b, ω, s) → values, s being the second number of the activations that have one. first, hidden, last:
    half-width of the uniform start of the weights for a given number of inputs and ω; `first` None takes the bounds the
    encoding asks for. Biases start at U(±1/√n) everywhere.
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


def _relu(x: Tensor, weight: Tensor, bias: Tensor, omega: float, sharpness: float | Tensor) -> Tensor:
    del omega, sharpness
    return affine_relu(x, weight, bias)


def _sine(x: Tensor, weight: Tensor, bias: Tensor, omega: float, sharpness: float | Tensor) -> Tensor:
    del sharpness
    return affine_sine(x, weight, bias, omega)


def _shaped(shape: Function) -> Layer:
    """The layer σ(W x + b) of an activation σ."""
    return lambda x, weight, bias, omega, sharpness: shape(affine(x, weight, bias), omega, sharpness)


def _as_linear(name: str) -> Activation:
    """A shape whose layers start as torch's linear ones."""
    return Activation(_shaped(FUNCTIONS[name]), first=_fan_in, hidden=_fan_in, last=_fan_in)


def _as_siren(name: str) -> Activation:
    """A shape whose layers start as SIREN's."""
    return Activation(_shaped(FUNCTIONS[name]), first=None, hidden=_siren, last=_siren)


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(_relu, first=_fan_in, hidden=_fan_in, last=_fan_in),
    "sine": Activation(_sine, first=None, hidden=_siren, last=_siren),
    "gauss": _as_linear("gauss"),
    "wavelet": _as_linear("wavelet"),
    "sinc": _as_linear("sinc"),
    "hosc": _as_siren("hosc"),
    "finer": _as_siren("finer"),
    "finer-full": _as_siren("finer-full"),
}
