"""What a row of METHODS holds, and the options that several rows share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from alfilter.config import option
from alfilter.encodings import Encoding
from alfilter.networks import MLP, Network

Samples = tuple[int, ...]  # how many samples a signal has along each axis
Parts = tuple[Encoding, Network]


@dataclass(frozen=True)
class Preset:
    """Settings under one name: what differs from the options' and the training's own defaults."""

    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """One system: its options, how it is built, its presets, and the facts of the paper's Table 1.

    adaptive, explicit, positional: spatially adaptive; explicit local frequency control; position-dependent parameters.
    size_by: the whole-number option that sizes the method to a parameter budget.
    """

    title: str
    year: int
    options: type
    build: Callable[..., Parts]
    presets: Mapping[str, Preset]
    adaptive: str = "no"
    explicit: str = "no"
    positional: str = "no"
    size_by: str = "width"


@dataclass(frozen=True)
class Backbone:
    width: int = option(256, "neurons per hidden layer", low=1, high=8192)
    depth: int = option(3, "hidden layers", low=1, high=64)


@dataclass(frozen=True)
class SineBackbone(Backbone):
    omega: float = option(30.0, "ω0, the frequency of the sine layers", low=1e-3, high=1e4)


@dataclass(frozen=True)
class Dyadic:
    levels: int = option(8, "L, dyadic scales of the encoding", low=1, high=20)


def sine_network(options: SineBackbone, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    """The sine network of the options on an encoding."""
    bound = encoding.first_bound()
    sizes: dict[str, Any] = {"width": options.width, "depth": options.depth, "omega": options.omega}
    return MLP(encoding.out_dim, out_dim, activation="sine", first_bound=bound, generator=generator, **sizes)


def relu_network(options: Backbone, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    """The ReLU network of the options on an encoding."""
    sizes: dict[str, Any] = {"width": options.width, "depth": options.depth}
    return MLP(encoding.out_dim, out_dim, activation="relu", generator=generator, **sizes)
