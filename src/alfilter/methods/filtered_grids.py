"""The row whose grid levels pass the paper's filter: al-grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from alfilter.config import Density, option
from alfilter.encodings import FilteredGrid
from alfilter.methods.grids import (
    FAST_ROWS,
    FEW_ROWS,
    LOW_END,
    MEDIA,
    SAMPLED,
    SHAPE,
    SHORT_MEMORY,
    HashGridOptions,
    finest_cells,
    follow_half_octaves,
    follow_samples,
    grid_network,
    grid_sizes,
)
from alfilter.methods.method import Method, Parts, Preset, Samples, alpha_resolution


@dataclass(frozen=True)
class AlGridOptions(HashGridOptions):
    kappa: float = option(2.0, "κ, sharpness of the filter's edge in levels", low=1e-3, high=1e3)
    bandwidth: float | None = option(
        None, "B, width of the pass band in levels; none: all levels below α pass", low=1e-3, high=1e3
    )
    grid: int | tuple[int, ...] | None = option(
        None, "nodes of the α grid per axis; none: by the signal's samples", low=1, high=4096
    )
    start: float | None = option(None, "α at the beginning, in levels; none: all of them pass")
    rate: float = option(0.5, "how far the learning rate moves α, in shares of its axis", low=1e-6, high=1e3)


def alpha_nodes(in_dim: int, samples: Samples | None) -> tuple[int, ...]:
    """Nodes of the α grid where none are named: one for some samples, and few in many dimensions.

    Four axes of samples are a light field's: what is detailed in one view is so in the others.

    >>> alpha_nodes(2, (512, 256)), alpha_nodes(2, (8192, 4096)), alpha_nodes(3, None)
    ((128, 64), (512, 256), (24, 24, 24))
    >>> alpha_nodes(4, (5, 5, 192, 256))
    (2, 2, 48, 64)
    """
    if in_dim == 4 and samples:
        return (2, 2, *alpha_nodes(2, samples[2:]))
    spacing, most = {1: (16, 4096), 2: (4, 128), 3: (8, 24)}.get(in_dim, (4, 12))
    if not samples:
        return (most,) * in_dim
    if in_dim == 2:  # a large picture has more places to tell apart
        spacing, most = min(max(spacing, max(samples) // most), 16), 4096
    return tuple(min(max(count // spacing, 4), most) for count in samples)


def _al_grid(
    options: AlGridOptions, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    encoding = FilteredGrid(
        in_dim,
        **grid_sizes(options, in_dim, finest_cells(options, in_dim, samples)),
        resolution=alpha_resolution(options.grid or alpha_nodes(in_dim, samples), in_dim),
        kappa=options.kappa,
        bandwidth=options.bandwidth,
        start=options.start,
        rate=options.rate,
        generator=generator,
    )
    return encoding, grid_network(options, encoding, out_dim, generator)


SETTLING = {"settle": 0.5}
# `alfilter experiment grids`. A slow α closes no level before its features have learned anything; on the logarithm of
# the error it keeps its pace while the error falls, so that the price tells even places from detailed ones.
PICTURE = Preset(
    {**SAMPLED, "rate": 0.1}, {**LOW_END, **SETTLING, "filter_loss": "log", "parsimony": 0.3}, adapt=follow_samples
)


def follow_few_rows(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two levels per octave, and a node of α for eight samples along an axis, few in all: they are parameters, too.

    >>> follow_few_rows(Density(2, 512))
    ({'levels': 14, 'grid': 64}, {})
    """
    options, _ = follow_half_octaves(density)
    return {**options, "grid": min(max(round(density.seen * density.gap / 8), 4), 64)}, {}


def follow_points(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """A node of the finest grid on every node of the lattice on which scattered points are filled; a level per octave.

    >>> follow_points(Density(2, 100.0))
    ({'finest': 255, 'levels': 5}, {})
    """
    finest = density.lattice - 1
    octaves = math.log2(max(finest / AlGridOptions.base, 1))
    return {"finest": finest, "levels": max(2, 1 + round(octaves))}, {}


def follow_noise(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Over one coordinate two points in a cell of the finest grid and eight around a node of α, whose high price tells
    detail from noise. Over more the field learns smoothed splines, and little from the points themselves.

    >>> follow_noise(Density(1, 1024.0))
    ({'finest': 512, 'levels': 8, 'grid': 128}, {})
    >>> follow_noise(Density(2, 100.0))[1]
    {'fill': 10.0, 'parsimony': 1.0, 'steps': 1000}
    """
    if density.dims > 1:
        options, _ = follow_points(density)
        usual = {"features": 4, "base": AlGridOptions.base, "width": AlGridOptions.width}
        return {**usual, **options}, {"fill": 10.0, "parsimony": 1.0, "steps": 1000}
    finest = max(_COARSEST, round(density.seen / 2))
    levels = max(2, 1 + round(math.log2(finest / _COARSEST)))
    return {"finest": finest, "levels": levels, "grid": min(max(round(density.seen / 8), 2), 512)}, {}


_COARSEST = 4  # cells of the coarsest grid, which is all that is left where nothing but noise is finer


def _priced(row: Preset, **training: Any) -> Preset:
    """A hash grid's preset with a price for its levels, and an α that descends the logarithm of the error.

    Seconds are few hundred steps: α moves faster than in a picture's `default`, whose price it would hardly feel.
    """
    price = {"filter_loss": "log", "parsimony": 1.0}
    return replace(
        row, options={**row.options, "rate": 0.25}, training={**row.training, **SETTLING, **price, **training}
    )


# A step of a video or a light field takes longer while α moves, and a price as high as that of other signals keeps
# single samples from their values: with less of both α tells detail as well.
_BRIEF: Mapping[str, Any] = {"settle": 0.3, "parsimony": 0.5}
_PRICES: Mapping[str, Mapping[str, Any]] = {"video": _BRIEF, "lightfield": _BRIEF}


ROWS = {
    "al-grid": Method(
        "AL-Filter on the levels of a multiresolution grid",
        2026,
        AlGridOptions,
        _al_grid,
        {
            "default": PICTURE,
            "small": Preset(
                {**FEW_ROWS, "rate": 0.02, "kappa": 4.0},
                {**FAST_ROWS, "filter_loss": "log", "parsimony": 0.02, "settle": 0.8},
                adapt=follow_few_rows,
                size_by=("table", "base"),
            ),
            "detail": replace(PICTURE, training={**PICTURE.training, "detail": 0.5}),
            "reconstruct": _priced(Preset(SAMPLED, {**LOW_END, **SHORT_MEMORY}, adapt=follow_samples), fill=1.0),
            "reconstruct-points": _priced(
                Preset({"features": 4, "depth": 1, "table": 22}, LOW_END, adapt=follow_points), fill=1.0, steps=1000
            ),
            "noisy": Preset(
                {"features": 2, "depth": 1, "width": 32, "base": _COARSEST, "table": 22},
                {**LOW_END, "parsimony": 30.0, "steps": 2500},
                adapt=follow_noise,
            ),
            **{f"default-{kind}": _priced(row, **_PRICES.get(kind, {})) for kind, row in MEDIA.items()},
            **{f"reconstruct-{kind}": _priced(row, fill=1.0, **_PRICES.get(kind, {})) for kind, row in MEDIA.items()},
            "default-shape": Preset({**SHAPE.options, "grid": 24}, {**SHAPE.training, "parsimony": 0.3}),
        },
        adaptive="yes",
        explicit="yes",
        positional="yes",
        size_by="finest",
    )
}
