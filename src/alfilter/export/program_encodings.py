"""Every encoding's features as rows of a table: four frequencies, the kind, the place on the filter's axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from alfilter.core import channel_scales
from alfilter.core.hash_grid import Layout
from alfilter.encodings import (
    Encoding,
    FilteredFourier,
    FilteredGrid,
    Fourier,
    HashGrid,
    Identity,
    Octree,
    RandomFourier,
    SampleTable,
)
from alfilter.encodings.sample_table import ON_A_SAMPLE
from alfilter.errors import UserError
from alfilter.export.steps import AXES, COSINE, GRID, PLAIN, SINE, Floats, Program

_WHOLE = 1 << 24  # float32 holds the whole numbers below


def table(program: Program, encoding: Encoding) -> Floats | None:
    """A row per feature, (C, 8); None where the page has no word for the encoding.

    Of a sine or cosine: turns per unit along up to four axes, the kind, its channel on the filter's axis (-1: no
    filter), two left over. Of a table of features: the level and which of its features, the kind, the level again where
    it is filtered (else -1); `program.steps["grid"]` then says where its rows are.
    """
    writer = _WRITERS.get(type(encoding))
    program.steps["grid"] = None
    return None if writer is None else writer(program, encoding)


def _rows(turns: Any, kinds: Any, channels: Any = -1) -> Floats:
    """Rows of the table. turns: (C, d)."""
    rows = np.zeros((len(turns), 2 * AXES), np.float32)
    rows[:, : np.shape(turns)[1]], rows[:, AXES], rows[:, AXES + 1] = turns, kinds, channels
    return rows


def _coordinates(dims: int) -> Floats:
    return _rows(np.eye(dims), PLAIN)


def _identity(program: Program, encoding: Identity) -> Floats:
    return _coordinates(encoding.in_dim)


def _dyadic(encoding: Fourier | FilteredFourier, filtered: bool) -> Floats:
    """sin and cos of 2^j π a x_k, which turn 2^(j-1) a times per unit, in the order of `core.dyadic_encoding`."""
    if encoding.placement.shift:
        raise UserError("a page has no phases, which placement=unit needs; export .onnx, or fit with placement=centres")
    dims, scale = encoding.in_dim, encoding.placement.scale
    stretch = scale if len(scale) == dims else scale * dims
    channels = np.arange(2 * dims * encoding.levels)
    axes, scales = channels // 2 % dims, channel_scales(dims, encoding.levels).numpy()
    turns = np.eye(dims)[axes] * (2.0 ** (scales - 1) * np.array(stretch)[axes])[:, None]
    return _rows(turns, SINE + channels % 2, channels if filtered else -1)


def _fourier(program: Program, encoding: Fourier) -> Floats:
    return _dyadic(encoding, filtered=False)


def _random(program: Program, encoding: RandomFourier) -> Floats:
    turns = encoding.frequencies.cpu().numpy()
    return np.concatenate([_rows(turns, kind) for kind in (SINE, COSINE)])


def _filtered(program: Program, encoding: FilteredFourier) -> Floats:
    rows = _dyadic(encoding, filtered=True)
    return np.concatenate((_coordinates(encoding.in_dim), rows)) if encoding.coordinates else rows


def _grid(program: Program, layout: Layout, numbers: Any, snap: float = 0.0, nodes: Any = None) -> Floats:
    """d-linear features of grids at several resolutions. numbers: (rows, F). nodes: the row of every node, -1: none."""
    program.steps["grid"] = {
        "levels": [
            {"cells": list(cells), "first": first, "mask": rows - 1 if hashed else 0}
            for cells, first, rows, hashed in zip(layout.cells, layout.offsets, layout.rows, layout.hashed, strict=True)
        ],
        "features": numbers.shape[1],
        "snap": snap,
        "table": program.store(numbers.cpu().numpy()),
        "nodes": None if nodes is None else program.store(nodes.cpu().numpy()),
    }
    places = [[level, feature] for level in range(layout.levels) for feature in range(numbers.shape[1])]
    return _rows(places, GRID)


def _hash_grid(program: Program, encoding: HashGrid) -> Floats:
    rows = _grid(program, encoding.layout, encoding.table)
    return np.concatenate((_coordinates(encoding.in_dim), rows)) if encoding.coordinates else rows


def _filtered_grid(program: Program, encoding: FilteredGrid) -> Floats:
    rows = _grid(program, encoding.layout, encoding.table)
    rows[:, AXES + 1] = rows[:, 0]
    return rows


def _octree(program: Program, encoding: Octree) -> Floats:
    if len(encoding.table) >= _WHOLE:
        raise UserError(f"a page counts up to {_WHOLE:,} rows of a tree, got {len(encoding.table):,}; export .onnx")
    return np.concatenate(
        (_coordinates(encoding.in_dim), _grid(program, encoding.layout, encoding.table, nodes=encoding.rows))
    )


def _samples(program: Program, encoding: SampleTable) -> Floats:
    if encoding.between == "refuse":
        raise UserError("a table that refuses places between samples has no page to zoom; fit it with between=linear")
    return _grid(program, encoding.layout, encoding.table, 0.5 if encoding.between == "nearest" else ON_A_SAMPLE)


_WRITERS: dict[type[Encoding], Callable[[Program, Any], Floats]] = {
    Identity: _identity,
    Fourier: _fourier,
    RandomFourier: _random,
    FilteredFourier: _filtered,
    FilteredGrid: _filtered_grid,
    HashGrid: _hash_grid,
    Octree: _octree,
    SampleTable: _samples,
}
