"""Rows whose encoding is a table of features: Instant-NGP's hash grid, the Fourier filter bank, DINER."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from alfilter.config import Density, option
from alfilter.encodings import Encoding, HashGrid, SampleTable
from alfilter.errors import UserError
from alfilter.methods.method import (
    Backbone,
    Method,
    Parts,
    Preset,
    Samples,
    SineBackbone,
    glorot_start,
    relu_network,
    sine_network,
)
from alfilter.networks import FilterBank, Network

CPU: dict[str, Any] = {"batch": 8192, "micro": 8192, "schedule": "cosine", "decay": 0.01}
# Instant-NGP: few steps see a row, so the memory of squared gradients is short and no ε holds a rare row back
RARE_ROWS: dict[str, Any] = {"beta2": 0.99, "epsilon": 1e-15}


@dataclass(frozen=True)
class Grids:
    levels: int = option(16, "L, grids from coarse to fine", low=1, high=32)
    features: int = option(2, "F, features per level", low=1, high=16)
    base: int = option(16, "N_min, cells per axis of the coarsest grid", low=1, high=4096)
    finest: int | None = option(
        None, "N_max, cells per axis of the finest grid; none: by the signal", low=1, high=1 << 19
    )
    density: float = option(0.5, "cells of the finest grid per sample, where `finest` is none", low=1e-3, high=8)
    aligned: bool = option(False, "put a node of the finest grid on every sample where `density` is 1")
    table: int | None = option(
        None, "log2 of T, the most rows a level may have; none: 24 up to two coordinates, else 19", low=4, high=24
    )


@dataclass(frozen=True)
class HashGridOptions(Grids):
    """Müller et al., Instant-NGP, 2022: see `HashGrid`. `source` has its image setting.

    Differs from the source in: the network has biases, which start at zero in `source`; weight decay is decoupled, not
    added to the gradient; the rate falls every 10,000 steps from the first, not from step 20,000 on; its code trains
    until it is stopped, `source` for 30,000 steps; N_l counts cells, there vertices; every row takes part in every step
    of Adam.
    """

    width: int = option(64, "neurons per hidden layer", low=1, high=8192)
    depth: int = option(2, "hidden layers", low=1, high=64)
    activation: str = option("relu", "of the network: relu or sine", choices=("relu", "sine"))
    omega: float = option(5.0, "ω0, the frequency of the sine layers", low=1e-3, high=1e4)
    init: str = option("torch", "how a ReLU network's weights start", choices=("torch", "glorot"))
    taper: float = option(1.0, "factor of the network's first weights from level to level", low=1e-3, high=1)


@dataclass(frozen=True)
class FilterBankOptions(Grids):
    """Wu et al., Neural Fourier Filter Bank, CVPR 2023: see `FilterBank`. `source` has its image setting.

    Differs from the source in: the loss is the squared error, there it is relative to the squared value, of pixels in
    linear light; the weights are not averaged (0.95 per step there); the output is not clamped; grids grow by 1.5 from
    level to level as there only for pictures of 1,094 pixels and more, below the finest is as fine as the samples.
    """

    levels: int = option(7, "L, grids from coarse to fine, a sine layer each", low=1, high=32)
    base: int = option(96, "N_min, cells per axis of the coarsest grid", low=1, high=4096)
    density: float = option(1.0, "cells of the finest grid per sample at most", low=1e-3, high=8)
    table: int | None = option(19, "log2 of T, the most rows a level may have", low=4, high=24)
    width: int = option(128, "neurons per sine layer", low=1, high=8192)
    backbone: int = option(64, "neurons of the two ReLU layers at the end", low=1, high=8192)
    omega: float = option(100.0, "ω0, the frequency of the sine layers", low=1e-3, high=1e4)
    sigma: float = option(5.0, "σ, spread of the first level's frequencies", low=1e-3, high=1e3)
    growth: float = option(2.0, "s, factor of the spread from level to level", low=1.0, high=8.0)


@dataclass(frozen=True)
class Diner(SineBackbone):
    """Xie et al., DINER, CVPR 2023: see `SampleTable`. `source` is its DinerMLP for pictures.

    Differs from the source in: the output is not clamped to [-1, 1] in training; a place closer than a thousandth of
    the spacing to a sample is that sample.
    """

    features: int = option(2, "numbers in a row of the table", low=1, high=64)
    activation: str = option("relu", "of the network: relu (DinerMLP) or sine (DinerSiren)", choices=("relu", "sine"))
    between: str = option(
        "linear", "off the samples: blend rows, take the nearest, or refuse", choices=("linear", "nearest", "refuse")
    )
    table: int | tuple[int, ...] | None = option(
        None, "rows of the table per axis; none: one per sample", low=1, high=1 << 20
    )


def finest_cells(options: Grids, in_dim: int, samples: Samples | None) -> tuple[int, ...]:
    """N_max along each axis: as given, or by the signal's samples, or what is usual for that many coordinates.

    >>> finest_cells(Grids(density=1.0), 2, (512, 256)), finest_cells(Grids(density=1.0, aligned=True), 2, (512, 256))
    ((512, 512), (511, 255))
    """
    usual = 256 if in_dim <= 2 else 2048 if in_dim == 3 else 64
    if options.finest or not samples:
        return (options.finest or usual,) * in_dim
    if options.aligned:
        return tuple(max(1, round((count - 1) * options.density)) for count in samples)
    return (max(1, int(max(samples) * options.density)),) * in_dim


def grid_sizes(options: Grids, in_dim: int, finest: tuple[int, ...]) -> dict[str, Any]:
    """What `HashGrid` and `FilteredGrid` need to know of their levels; T, the rows of a level, is at most `table`."""
    if in_dim > 4:
        raise UserError(f"the spatial hash is defined for 1 to 4 coordinates, got {in_dim}; take al-sine or siren")
    return {
        "levels": options.levels,
        "features": options.features,
        "base": min(options.base, max(finest)),
        "finest": finest,
        "table": 1 << (options.table if options.table is not None else (24 if in_dim <= 2 else 19)),
    }


def _hash_grid(
    options: HashGridOptions, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    """The finest grid has a cell for every two samples, as the source sets it for images."""
    sizes = grid_sizes(options, in_dim, finest_cells(options, in_dim, samples))
    encoding = HashGrid(in_dim, **sizes, generator=generator)
    return encoding, grid_network(options, encoding, out_dim, generator)


def grid_network(options: HashGridOptions, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    """The network on the features of L levels; the first weights on level j are multiplied with taper^j.

    All rows move equally far in a step of Adam. With a taper the coarse levels take what all places of an area share,
    and the fine ones what is left.
    """
    sizes = {"width": options.width, "depth": options.depth}
    if options.activation == "sine":
        network = sine_network(SineBackbone(**sizes, omega=options.omega), encoding, out_dim, generator)
    else:
        network = relu_network(Backbone(**sizes), encoding, out_dim, generator)
        if options.init == "glorot":
            glorot_start(network, generator, normal=False, bias=0.0, outputs=_PADDED)
    factors = options.taper ** torch.arange(options.levels).repeat_interleave(options.features)
    with torch.no_grad():
        next(network.parameters()).mul_(factors)  # (width, L F)
    return network


def _filter_bank(
    options: FilterBankOptions, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    """Grids grow by 1.5 from level to level; `density` keeps the finest from being finer than the samples."""
    usual = round(options.base * 1.5 ** (options.levels - 1))
    finest = options.finest or min(usual, max(1, int(max(samples) * options.density)) if samples else usual)
    sizes = grid_sizes(options, in_dim, (finest,) * in_dim)
    encoding = HashGrid(in_dim, **sizes, coordinates=True, generator=generator)
    network = FilterBank(
        in_dim,
        out_dim,
        levels=options.levels,
        features=options.features,
        width=options.width,
        backbone=options.backbone,
        omega=options.omega,
        sigma=options.sigma,
        growth=options.growth,
        generator=generator,
    )
    return encoding, network


def _diner(options: Diner, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    rows = options.table if options.table is not None else samples
    if rows is None:
        raise UserError(
            "diner keeps a row per sample and must know how many there are; give samples or the option table"
        )
    sizes = (rows,) * in_dim if isinstance(rows, int) else rows
    if len(sizes) != in_dim:
        raise UserError(
            f"option 'table' needs {in_dim} sizes for {in_dim} coordinates, got {len(sizes)}; give one per axis"
        )
    between: Any = options.between
    encoding = SampleTable(sizes, features=options.features, between=between, generator=generator)
    network = sine_network if options.activation == "sine" else relu_network
    return encoding, network(options, encoding, out_dim, generator)


_PADDED = 16  # outputs that the source's network has at least
# `alfilter experiment grids`. A node of the finest grid on every sample: each sample has a row of its own to correct,
# and the coarser levels, one per octave, carry what it shares with its neighbours.
SAMPLED: dict[str, Any] = {
    "features": 4, "density": 1.0, "aligned": True, "levels": 6, "depth": 1, "table": 22, "taper": 0.8,
}  # fmt: skip
RECIPE: dict[str, Any] = {**CPU, **RARE_ROWS, "lr": 5e-3, "lr_encoding": 2e-2}
# Adam's steps are as long as the rate, however small the gradient: the last rate is the floor of the error
LOW_END: dict[str, Any] = {**RECIPE, "decay": 1e-3}
# `alfilter experiment shapes-grids`. A surface touches some 10^5 nodes of the finest levels: rows enough to keep most
# of them apart are worth more than the time they take.
SHAPE = Preset(
    {"levels": 12, "base": 8, "finest": 256, "table": 17},
    {**RECIPE, "sampling": "graded", "lr_encoding": 1e-2},
)
# `alfilter experiment equal-search`: few parameters are best in levels of two features, most of them hashed, below a
# sine network: it tells places that share rows apart better than ReLU. How many levels are best, 10 to 17, differs by
# size without an order; with two per octave a fit is near the best of them
_COARSEST = 4  # cells of the coarsest grid where the size is met exactly by the largest table that fits
FEW_ROWS: dict[str, Any] = {
    "features": 2, "density": 0.71, "aligned": True, "base": _COARSEST, "depth": 2,
    "activation": "sine", "omega": 5.0,
}  # fmt: skip
FAST_ROWS: dict[str, Any] = {**LOW_END, "lr": 1e-2, "lr_encoding": 8e-2, "beta2": 0.95}
EVERY_SAMPLE = 1 << 20  # samples of a signal that has a node on each; larger ones have a node for four
MOST_ROWS = 1 << 23  # of the finest grid: parameters, gradients and moments of 8,192 × 8,192 pixels in about 1 GB
SAMPLES_PER_ROW = 1 / 32  # in a batch: Adam goes through the whole table at every step, and larger ones cost it more
MOST_OF_A_VIDEO = 1 << 16  # samples in its batches: a step costs more by its samples than by its table


def follow_samples(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """A node of the finest grid on every sample, or for four of them in a large signal; a level per octave.

    >>> follow_samples(Density(2, 512))
    ({'density': 1.0, 'levels': 6}, {})
    >>> follow_samples(Density(2, 8192))
    ({'density': 0.354, 'levels': 9, 'features': 2, 'table': 24}, {'batch': 262144, 'micro': 32768})

    A video's batches are smaller: of 640 × 272 × 250 samples in 30 s, 65,536 reach 28.9 dB and 262,144 27.1 dB.
    """
    samples = (density.seen * density.gap) ** density.dims
    rows = samples if samples <= EVERY_SAMPLE else min(max(samples / 4, EVERY_SAMPLE), MOST_ROWS)
    octaves = math.log2(max(rows ** (1 / density.dims) / Grids.base, 1))
    share = float(f"{(rows / samples) ** (1 / density.dims):.3g}")
    options: dict[str, Any] = {"density": share, "levels": max(2, 1 + round(octaves))}
    if rows > EVERY_SAMPLE:
        options |= {"features": 2, "table": 24}
    batch = min(round(rows * SAMPLES_PER_ROW), MOST_OF_A_VIDEO if density.dims == 3 else MOST_ROWS)
    return options, {"batch": batch, "micro": min(batch, 1 << 15)} if batch > CPU["batch"] else {}


def follow_half_octaves(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two levels per octave from the coarsest grid of `FEW_ROWS` to its finest.

    >>> follow_half_octaves(Density(2, 512))
    ({'levels': 14}, {})
    """
    finest = FEW_ROWS["density"] * density.seen * density.gap
    return {"levels": max(4, 1 + round(2 * math.log2(max(finest / _COARSEST, 1))))}, {}


def follow_sound(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two levels: a node on every sample, and one for 64 of them.

    >>> follow_sound(Density(1, 44_100))
    ({'density': 1.0, 'levels': 2, 'base': 689}, {})
    """
    options, _ = follow_samples(density)
    return {**options, "levels": 2, "base": int(min(max(density.seen * density.gap / 64, 16), 4096))}, {}


def follow_volume(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two levels: a node on every sample while they are few, and 16 cells along the longest axis."""
    options, _ = follow_samples(density)
    return {**options, "levels": 2}, {}


def follow_views(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two levels, the finest and 16 cells; views resemble each other, so more samples have a node of their own than in
    other signals.
    """
    options, _ = follow_samples(density)
    few = (density.seen * density.gap) ** density.dims <= 4 * EVERY_SAMPLE
    return {**options, "levels": 2, **({"density": 1.0} if few else {})}, {}


# A step costs what its table's rows cost: few levels have more steps in the same time, and in light fields fewer reach
# their values in fewer steps, too. Tried on parts of one signal of
# each kind, for seconds. As many features as values, and one more: with fewer, some samples never reach theirs and the
# error stays at 50 to 60 dB. A row of colour is read every 20 to 50 steps: with a shorter memory of squared gradients
# its steps follow its error as it falls. The floor is higher then, 85 dB, which a volume's is below in seconds.
_FAST: dict[str, Any] = {"lr": 1e-2, "lr_encoding": 3e-2}
SHORT_MEMORY: dict[str, Any] = {"beta2": 0.95}
MEDIA: dict[str, Preset] = {
    "audio": Preset({**SAMPLED, "features": 2}, {**RECIPE, "batch": 16384}, adapt=follow_sound),
    "volume": Preset(
        {**SAMPLED, "features": 2, "width": 32},
        {**RECIPE, **_FAST, "batch": 16384},
        adapt=follow_volume,
    ),
    "video": Preset(SAMPLED, {**LOW_END, **SHORT_MEMORY}, adapt=follow_samples),
    "lightfield": Preset(
        {**SAMPLED, "width": 32, "taper": 0.6}, {**RECIPE, **_FAST, **SHORT_MEMORY}, adapt=follow_views
    ),
}

_NGP = {
    **RARE_ROWS,
    "lr": 1e-2,
    "lr_encoding": 1e-2,
    "batch": 1 << 18,
    "decay": 0.33,
    "every": 10_000,
    "weight_decay": 1e-6,
}
_NFFB = {
    **RARE_ROWS,
    "lr": 1e-4,
    "lr_encoding": 1e-4,
    "decay": 0.5,
    "every": 5000,
    "steps": 50_000,
    "batch": 1 << 18,
    "clip": 1.0,
}

ROWS = {
    "hash-grid": Method(
        "Multiresolution hash grid and a small ReLU network (Instant-NGP)",
        2022,
        HashGridOptions,
        _hash_grid,
        {
            "source": Preset({"init": "glorot"}, {**_NGP, "steps": 30_000}),
            "paper": Preset({}, _NGP),
            "default": Preset(SAMPLED, LOW_END, adapt=follow_samples),
            "small": Preset(FEW_ROWS, FAST_ROWS, adapt=follow_half_octaves, size_by=("table", "base")),
            "default-shape": SHAPE,
            **{f"default-{kind}": preset for kind, preset in MEDIA.items()},
        },
        adaptive="yes",
        positional="yes",
        size_by="finest",
    ),
    "filter-bank": Method(
        "Neural Fourier filter bank: grid features through Fourier, added into sine layers",
        2023,
        FilterBankOptions,
        _filter_bank,
        {
            "source": Preset({}, _NFFB),
            "paper": Preset({}, {"beta2": 0.99, "lr": 1e-4, "lr_encoding": 1e-4, "decay": 0.5}),
        },
        adaptive="yes",
        positional="yes",
        size_by="finest",
    ),
    "diner": Method(
        "A learned table with a row per sample before the network (DINER)",
        2022,
        Diner,
        _diner,
        {
            "source": Preset({"width": 64}, {"lr": 1e-4, "lr_encoding": 1e-4, "schedule": "constant", "steps": 10_000}),
            "paper": Preset({}, {"lr": 1e-4, "lr_encoding": 1e-4}),
        },
        adaptive="yes",
        positional="yes",
    ),
}
