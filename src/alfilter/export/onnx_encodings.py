"""Every encoding as ONNX operations: counterparts of their `forward`, from points (n, d) to features (n, C)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.hash_grid import PRIMES, Layout
from alfilter.encodings import (
    AdaptiveBlocks,
    Encoding,
    FilteredEncoding,
    FilteredFourier,
    FilteredGrid,
    Fourier,
    HashGrid,
    Identity,
    Octree,
    RandomFourier,
    SampleTable,
)
from alfilter.encodings.placement import ENDS
from alfilter.encodings.sample_table import ON_A_SAMPLE
from alfilter.errors import UserError
from alfilter.export.graph import Graph


def features(graph: Graph, encoding: Encoding, x: str) -> str:
    """The features of an encoding; one that is not of this package says itself what they are, or why there are none."""
    writer = _WRITERS.get(type(encoding))
    return encoding.onnx(graph, x) if writer is None else writer(graph, encoding, x)


def alpha(graph: Graph, encoding: FilteredEncoding, x: str) -> str:
    """α(x) in units of the filter's axis, channels or levels: (n,)."""
    grid = encoding.alpha.values
    layout = Layout.of([tuple(size - 1 for size in grid.shape[:-1])])
    alpha = _blend(graph, grid.reshape(-1, 1), *_corners(graph, x, layout, 0))
    return graph.op("Mul", graph.op("Squeeze", alpha, np.array([-1], np.int64)), float(encoding.alpha.unit))


def _identity(graph: Graph, encoding: Identity, x: str) -> str:
    return x


def _fourier(graph: Graph, encoding: Fourier, x: str) -> str:
    return _dyadic(graph, x, encoding, encoding.out_dim)


def _dyadic(graph: Graph, x: str, encoding: Fourier | FilteredFourier, channels: int) -> str:
    """γ at the encoding's placement, in the order of `core.dyadic_encoding`."""
    placement = encoding.placement
    if placement != ENDS:
        x = graph.op("Add", graph.op("Mul", x, np.array(placement.scale, np.float32)), placement.shift)
    scales = (math.pi * 2.0 ** torch.arange(encoding.levels)).unsqueeze(-1)  # (L, 1)
    angles = graph.op("Mul", graph.unsqueeze(x, -2), scales)  # (n, L, d)
    pairs = graph.join(*(graph.unsqueeze(graph.op(kind, angles), -1) for kind in ("Sin", "Cos")))
    return graph.op("Reshape", pairs, np.array([-1, channels], np.int64))


def _random(graph: Graph, encoding: RandomFourier, x: str) -> str:
    angles = graph.op("Mul", graph.op("MatMul", x, encoding.frequencies.t().contiguous()), 2 * math.pi)
    return graph.join(graph.op("Sin", angles), graph.op("Cos", angles))


def _filtered(graph: Graph, encoding: FilteredFourier, x: str) -> str:
    """γ' = H_B(α) ⊙ γ."""
    response = _band(graph, alpha(graph, encoding, x), encoding.axis, encoding.bandwidth, encoding.kappa)
    filtered = graph.op("Mul", response, _dyadic(graph, x, encoding, encoding.axis))
    return graph.join(x, filtered) if encoding.coordinates else filtered


def _band(graph: Graph, alpha: str, channels: int, band: float | None, kappa: float) -> str:
    """H_B^c(α), (n, channels), as the product of two sigmoids, see `core.band_response`; band None: σ(κ(α-c))."""
    offset = graph.op("Sub", torch.arange(channels).float(), graph.unsqueeze(alpha, -1))
    if band is None:
        return graph.op("Sigmoid", graph.op("Mul", offset, -kappa))
    rising = graph.op("Sigmoid", graph.op("Mul", graph.op("Add", offset, band / 2), kappa))
    falling = graph.op("Sigmoid", graph.op("Mul", graph.op("Sub", band / 2, offset), kappa))
    return graph.op("Mul", graph.op("Mul", rising, falling), -math.expm1(-kappa * band))


def _filtered_grid(graph: Graph, encoding: FilteredGrid, x: str) -> str:
    """f'_j = H_j(α) f_j, see `core.filter.level_response`."""
    band, levels = encoding.bandwidth, range(encoding.levels)
    centre = graph.op("Add", alpha(graph, encoding, x), 0.5 - (0.0 if band is None else band / 2))
    response = _band(graph, centre, encoding.levels, band, encoding.kappa)
    features = [_blend(graph, encoding.table, *_corners(graph, x, encoding.layout, level)) for level in levels]
    return graph.join(*(graph.op("Mul", f, graph.columns(response, j)) for j, f in enumerate(features)))


def _hash_grid(graph: Graph, encoding: HashGrid, x: str) -> str:
    levels = range(encoding.layout.levels)
    features = [_blend(graph, encoding.table, *_corners(graph, x, encoding.layout, level)) for level in levels]
    return graph.join(*([x] if encoding.coordinates else []), *features)


def _octree(graph: Graph, encoding: Octree, x: str) -> str:
    """A node without a row counts as zero."""
    features, rows = [], encoding.rows.long()
    for level in range(encoding.levels):
        node, weight = _corners(graph, x, encoding.layout, level)
        row = graph.op("Gather", rows, node)
        share = graph.op("Where", graph.op("Less", row, 0), 0.0, weight)
        features.append(_blend(graph, encoding.table, graph.op("Max", row, 0), share))
    return graph.join(x, *features)


def _table(graph: Graph, encoding: SampleTable, x: str) -> str:
    if encoding.between == "refuse":
        raise UserError("a table that refuses places between its samples cannot be an ONNX graph, which has no errors; "
                        "fit it with between=linear")  # fmt: skip
    snap = 0.5 if encoding.between == "nearest" else ON_A_SAMPLE
    return _blend(graph, encoding.table, *_corners(graph, x, encoding.layout, 0, snap))


def _blocks(graph: Graph, encoding: AdaptiveBlocks, x: str) -> str:
    """The blocks' features do not depend on the points: they are a constant table of the graph."""
    inside, cells = graph.op("Add", graph.op("Clip", x, -1.0, 1.0), 1.0), 2**encoding.deepest
    place = graph.op("Min", graph.op("Floor", graph.op("Mul", inside, cells / 2)), float(cells - 1))
    cell = _flat(graph, _whole(graph, place), (cells,) * encoding.in_dim)
    index = graph.op("Gather", encoding.cover.long(), cell)  # (n,)
    blocks = encoding.blocks.float()
    fine = graph.op("Gather", torch.exp2(blocks[:, :1]), index)  # cells per axis at the block's level: (n, 1)
    corner = graph.op("Gather", 2 * blocks[:, 1:] + 1, index)  # (n, d)
    local = graph.op("Sub", graph.op("Mul", inside, fine), corner)
    node, weight = _corners(graph, local, encoding.grid, 0)
    first = graph.unsqueeze(graph.op("Mul", index, encoding.patch**encoding.in_dim), -1)
    with torch.no_grad():
        table = encoding.block_features()
    return _blend(graph, table, graph.op("Add", node, first), weight)


_WRITERS: dict[type, Callable[[Graph, Any, str], str]] = {
    Identity: _identity,
    Fourier: _fourier,
    RandomFourier: _random,
    FilteredFourier: _filtered,
    FilteredGrid: _filtered_grid,
    HashGrid: _hash_grid,
    Octree: _octree,
    SampleTable: _table,
    AdaptiveBlocks: _blocks,
}


def _corners(graph: Graph, x: str, layout: Layout, level: int, snap: float = 0.0) -> tuple[str, str]:
    """Rows (integers) and d-linear weights of the corners of every point's cell on one level: (n, 2^d) each."""
    cells = np.array(layout.cells[level], np.int64)
    position = graph.op("Mul", graph.op("Add", graph.op("Clip", x, -1.0, 1.0), 1.0), cells.astype(np.float32) / 2)
    if snap > 0:
        nearest = graph.op("Round", position)
        near = graph.op("LessOrEqual", graph.op("Abs", graph.op("Sub", position, nearest)), snap)
        position = graph.op("Where", near, nearest, position)
    lower = graph.op("Min", graph.op("Floor", position), np.maximum(cells - 1, 0).astype(np.float32))
    part = graph.op("Sub", position, lower)  # (n, d)
    node, rows, weights = _whole(graph, lower), [], []
    for far in product((0, 1), repeat=layout.dims):
        step = np.array(far, np.int64)
        corner = graph.op("Min", graph.op("Add", node, step), cells)
        rows.append(graph.unsqueeze(_row(graph, corner, layout, level), -1))
        # the weight is the part on the far side and one minus it on the near one
        sides = graph.op("Add", graph.op("Mul", part, np.where(step, 1, -1).astype(np.float32)), 1.0 - step)
        weights.append(graph.fold("Mul", [graph.columns(sides, axis) for axis in range(layout.dims)]))
    return graph.join(*rows), graph.join(*weights)


def _row(graph: Graph, corner: str, layout: Layout, level: int) -> str:
    """The table's row of a node (n, d) of a level: (n,)."""
    cells, first = layout.cells[level], layout.offsets[level]
    if not layout.hashed[level]:
        return graph.op("Add", _flat(graph, corner, tuple(count + 1 for count in cells)), first)
    scaled = graph.op("Mul", corner, np.array(PRIMES[: layout.dims], np.int64))
    mixed = graph.fold("BitwiseXor", [graph.op("Gather", scaled, axis, axis=-1) for axis in range(layout.dims)])
    return graph.op("Add", graph.op("BitwiseAnd", mixed, layout.rows[level] - 1), first)


def _flat(graph: Graph, place: str, shape: tuple[int, ...]) -> str:
    """The row-major index of integer places (n, d) in a grid of that shape: (n,)."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    axes = [graph.op("Mul", graph.op("Gather", place, axis, axis=-1), stride) for axis, stride in enumerate(strides)]
    return graph.fold("Add", axes)


def _blend(graph: Graph, table: Tensor, row: str, weight: str) -> str:
    """Σ_k w_k T[i_k]. table: (R, F), row, weight: (n, K) → (n, F)."""
    corners = graph.op("Gather", table, row)  # (n, K, F)
    return graph.op("Squeeze", graph.op("MatMul", graph.unsqueeze(weight, 1), corners), np.array([1], np.int64))


def _whole(graph: Graph, x: str) -> str:
    """As 64-bit integers (7 in the standard's numbering)."""
    return graph.op("Cast", x, to=7)
