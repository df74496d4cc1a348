"""What a row of METHODS holds, and the options that several rows share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from alfilter.config import Density, option
from alfilter.encodings import Encoding, Placement
from alfilter.errors import UserError
from alfilter.networks import MLP, Network

_MOST_VARYING = 10  # coordinates: α is read at the 2^d corners of a cell
Samples = tuple[int, ...]  # how many samples a signal has along each axis
Parts = tuple[Encoding, Network]


Adapt = Callable[[Density], tuple[Mapping[str, Any], Mapping[str, Any]]]


@dataclass(frozen=True)
class Preset:
    """Settings under one name: what differs from the options' and the training's own defaults.

    sparse: of the training when some samples are unseen. adapt: options and training that follow how densely the
    signal is seen. size_by: the option that sizes a field of this preset to a parameter budget, if not the method's;
    of two, the first has large steps.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    sparse: Mapping[str, Any] = field(default_factory=dict)
    adapt: Adapt | None = None
    size_by: tuple[str, ...] = ()

    def options_at(self, density: Density | None) -> dict[str, Any]:
        """The options for a signal seen that densely."""
        return {**self.options, **(self.adapt(density)[0] if self.adapt and density else {})}

    def training_at(self, density: Density | None) -> dict[str, Any]:
        """The training for a signal seen that densely."""
        adapted = self.adapt(density)[1] if self.adapt and density else {}
        unseen = self.sparse if density and density.gap > 1 else {}
        return {**self.training, **unseen, **adapted}


def follow(at: float, rising: Mapping[str, float]) -> Adapt:
    """Frequencies found with `at` samples seen along the axis, for any other number n of them: times (n/at)^½.

    Frequencies are counted across the domain, so more samples can tell higher ones; but a larger signal is also fitted
    less exactly. The root is a rule of thumb between the two; for pictures it was measured and does harm.

    >>> follow(48, {"omega": 30.0})(Density(2, 192))
    ({'omega': 60.0}, {})
    """

    def options(density: Density) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        factor = math.sqrt(density.seen / at)
        return {name: float(f"{value * factor:.3g}") for name, value in rising.items()}, {}

    return options


# Signed distances. The paper: 8 hidden layers, 200k steps of 10k points; rates, AMSGrad and clipping are those of its
# source (BACON). That sums its loss over the 10k points and we take the mean: its clip at 1 and Adam's ε = 1e-8 become
# 1e-4 and 1e-12, and the steps are the same. The default is for minutes on a CPU.
SHAPE_PAPER: Mapping[str, Any] = {
    "steps": 200_000, "batch": 10_000, "schedule": "constant", "amsgrad": True, "clip": 1e-4, "epsilon": 1e-12,
}  # fmt: skip
SHAPE_BACKBONE: Mapping[str, Any] = {"width": 160, "depth": 3}
SHAPE_DEFAULT: Mapping[str, Any] = {
    "batch": 2048, "steps": 24_000, "schedule": "cosine", "decay": 0.01, "lr": 1e-3, "sampling": "graded",
    "neurons": 480,
}  # fmt: skip


@dataclass(frozen=True)
class Method:
    """One system: its options, how it is built, its presets, and the facts of the paper's Table 1.

    options: a frozen dataclass of `alfilter.config.option`s. build: (options, in_dim, out_dim, samples, generator) to
    (encoding, network); every random number of the start comes from that generator.
    adaptive, explicit, positional: spatially adaptive; explicit local frequency control; position-dependent parameters.
    size_by: the whole-number option that sizes the method to a parameter budget.
    """

    title: str
    year: int
    options: type
    build: Callable[..., Parts]
    presets: Mapping[str, Preset] = field(default_factory=lambda: {"default": Preset()})
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
    placement: str = option(
        "ends",
        "where γ sees the samples: ends on ±1, where opposite borders coincide; pixel centres; or [0, 1]",
        choices=("ends", "centres", "unit"),
    )

    def placed(self, samples: Samples | None) -> Placement:
        """The placement for a signal with that many samples along each axis."""
        where: Any = self.placement
        return Placement.of(where, samples)


def sine_network(options: SineBackbone, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    """The sine network of the options on an encoding."""
    bound = encoding.first_bound()
    sizes: dict[str, Any] = {"width": options.width, "depth": options.depth, "omega": options.omega}
    return MLP(encoding.out_dim, out_dim, activation="sine", first_bound=bound, generator=generator, **sizes)


def relu_network(options: Backbone, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    """The ReLU network of the options on an encoding."""
    sizes: dict[str, Any] = {"width": options.width, "depth": options.depth}
    return MLP(encoding.out_dim, out_dim, activation="relu", generator=generator, **sizes)


def glorot_start(network: Network, generator: torch.Generator, *, normal: bool, bias: float, outputs: int = 1) -> None:
    """Draw the weights of a perceptron again with the standard deviation √(2/(n+m)) of Glorot & Bengio.

    normal: from a normal distribution, else from U(±√(6/(n+m))). bias: standard deviation of the biases. outputs: of
    the last layer at least, where a source pads it.
    """
    assert isinstance(network, MLP)
    with torch.no_grad():
        for weight, offset in network.layers():
            spread = math.sqrt(2 / (weight.shape[1] + max(weight.shape[0], outputs)))
            if normal:
                weight.copy_(torch.randn(weight.shape, generator=generator) * spread)
            else:
                weight.copy_((torch.rand(weight.shape, generator=generator) * 2 - 1) * (math.sqrt(3) * spread))
            offset.copy_(torch.randn(offset.shape, generator=generator) * bias)


def alpha_resolution(grid: int | tuple[int, ...], in_dim: int) -> tuple[int, ...]:
    """Nodes of an α grid along each axis, from one number for all of them or one for each.

    >>> alpha_resolution(16, 2), alpha_resolution((8, 4), 2)
    ((16, 16), (8, 4))
    """
    resolution = (grid,) * in_dim if isinstance(grid, int) else grid
    if len(resolution) != in_dim:
        raise UserError(
            f"option 'grid' needs {in_dim} sizes for {in_dim} coordinates, got {len(resolution)}; give one per axis"
        )
    if (varying := sum(nodes > 1 for nodes in resolution)) > _MOST_VARYING:
        raise UserError(
            f"α may vary along {_MOST_VARYING} coordinates, got {varying}; give the others one node each in 'grid'"
        )
    return resolution
