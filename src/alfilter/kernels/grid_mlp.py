"""A training step's gradient of a grid and the perceptrons on it, in one call per worker.

For a tile of points: the features of all levels, the filter on them, the perceptron, the loss, and all of it backwards,
into the gradient of the table, of α and of the weights. Features stay in the second cache, activations in the first;
neither is written to memory. Its tests have the same in tensor operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from alfilter.kernels.gemm import whole_vectors
from alfilter.kernels.grid_lookup import Corners, Levels, add_levels, corner_buffers, read_levels
from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.level_filter import alpha_gradient, respond
from alfilter.kernels.mlp import BLOCK
from alfilter.kernels.mlp_step import Loss as Loss
from alfilter.kernels.mlp_step import Perceptron as Perceptron
from alfilter.kernels.mlp_step import add_gradient, block_buffers, block_gradient, empty_layers, layers_of, load_layers

TILE = 2048  # points whose features are in the second cache, beside the rows of a level


class Filter(NamedTuple):
    """H_j = σ(κ(min(α, cap) - e_j)) with α = unit · I(x; A). grid: of A, one level. edges: (L,).

    cap: (n,), one per point, or (1,), the same for all.
    """

    grid: Any
    unit: Any
    kappa: Any
    edges: Any
    cap: Any


@njit(fastmath=FAST, nogil=True)
def tile_response(
    x: Any, first: int, filtered: Filter, values: Any, alpha: Any, response: Any, buffers: Corners
) -> None:
    """alpha (m, 1) = unit · I(x; A) of the points first … first+m-1, and response (L, ≥m) = H(min(α, cap))."""
    read_levels(x, first, filtered.grid, response[:0], values, 0, alpha, buffers)
    capped = np.empty(len(alpha), f4)
    for i in range(len(alpha)):
        alpha[i, 0] *= filtered.unit
        capped[i] = min(alpha[i, 0], filtered.cap[first + i] if len(filtered.cap) > 1 else filtered.cap[0])
    respond(capped, filtered.edges, filtered.kappa, response)


@njit(fastmath=FAST, nogil=True)
def add_alpha(
    x: Any, first: int, filtered: Filter, alpha: Any, by_capped: Any, by_values: Any, buffers: Corners
) -> None:
    """by_values (nodes, 1) += the gradient of A from that of min(α, cap), (m,); alpha (m, 1) is used up."""
    for i in range(len(alpha)):
        cap = filtered.cap[first + i] if len(filtered.cap) > 1 else filtered.cap[0]
        alpha[i, 0] = f4(0) if alpha[i, 0] > cap else filtered.unit * by_capped[i]
    add_levels(x, first, filtered.grid, alpha[:0], alpha, 0, by_values, buffers)


@kernel(fastmath=FAST)
def grid_mlp_gradient(
    x: Any, y: Any, begin: int, end: int, loss: Loss, levels: Levels, table: Any, filtered: Filter | None, values: Any,
    network: Perceptron, flat: Any, by_table: Any, by_alpha: Any, by_flat: Any,
) -> float:  # fmt: skip
    """The loss of the points begin … end-1; adds its gradient to by_table, by_alpha and by_flat.

    x: d arrays (n,). y: (n, c) or (n, c + 1). table: (R, F). flat: where `network.starts` count. filtered: None if
    there is no filter, of which nothing is compiled then; values: A, (nodes, 1). by_alpha: as large, or without rows if
    its gradient is not wanted.
    """
    sizes = network.sizes
    inputs, dims, size = sizes[0], len(x), table.shape[1]
    skip = dims if network.coordinates else 0
    layers = load_layers(flat, network.starts, sizes, layers_of(empty_layers(1, sizes), 0))
    blocks = block_buffers(sizes, network.kind)
    tile = min(TILE, end - begin)
    buffers, features = corner_buffers(dims), np.empty((tile, whole_vectors(inputs)), f4)
    if filtered is None:
        by_features, response = features, np.empty((0, 0), f4)  # in place: no feature is read again
    else:
        by_features = np.empty((tile, whole_vectors(inputs)), f4) if len(by_alpha) > 0 else features
        response = np.empty((len(filtered.edges), tile), f4)
        alpha, by_capped = np.empty((tile, 1), f4), np.empty(tile, f4)
    total = 0.0
    for first in range(begin, end, tile):
        count = min(tile, end - first)
        for k in range(skip):
            for i in range(count):
                features[i, k] = x[k][first + i]
        if filtered is not None:
            tile_response(x, first, filtered, values, alpha[:count], response, buffers)
        read_levels(x, first, levels, response, table, skip, features[:count], buffers)
        for low in range(0, count, BLOCK):
            m = min(BLOCK, count - low)
            block, by_block = features[low : low + m, :inputs], by_features[low : low + m, : whole_vectors(inputs)]
            total += block_gradient(block, y, first + low, loss, network, layers, blocks, by_block)
            if filtered is not None and len(by_alpha) > 0:  # while both are in cache
                own = features[low : low + m], by_features[low : low + m]
                alpha_gradient(*own, skip, size, filtered.kappa, response, low, by_capped[low : low + m])
        add_levels(x, first, levels, response, by_features[:count], skip, by_table, buffers)
        if filtered is not None and len(by_alpha) > 0:
            add_alpha(x, first, filtered, alpha[:count], by_capped, by_alpha, buffers)
    add_gradient(layers, network.starts, sizes, by_flat)
    return total


@njit(fastmath=FAST, nogil=True)
def _sum_levels(rows: Any, dims: int, size: int, inputs: Any) -> None:
    """inputs (L, ≥m, d + F) = [x, g_1 + … + g_l] of rows (m, d + L F …)."""
    for i in range(len(rows)):
        for l in range(len(inputs)):
            own = inputs[l, i]
            for k in range(dims):
                own[k] = rows[i, k]
            for f in range(size):
                own[dims + f] = rows[i, dims + l * size + f] + (inputs[l - 1, i, dims + f] if l > 0 else f4(0))


@kernel(fastmath=FAST)
def grid_decoders_gradient(
    x: Any, y: Any, begin: int, end: int, loss: Loss, levels: Levels, table: Any, network: Perceptron, flat: Any,
    by_table: Any, by_flat: Any,
) -> float:  # fmt: skip
    """`grid_mlp_gradient` where every level has a ReLU perceptron of its own on [x, g_1 + … + g_l].

    The loss is the finest level's; the gradient is that of the mean over all levels. network.starts: (L, 2 layers).
    """
    sizes, dims, count_levels = network.sizes, len(x), len(levels.first)
    inputs, size = sizes[0], table.shape[1]
    decoders, blocks = empty_layers(count_levels, sizes), block_buffers(sizes, network.kind)
    for l in range(count_levels):
        load_layers(flat, network.starts[l], sizes, layers_of(decoders, l))
    shared = Loss(loss.power, loss.weighted, loss.factor / f4(count_levels), loss.shift, loss.scale)
    tile = min(TILE, end - begin)
    buffers, response = corner_buffers(dims), np.empty((0, 0), f4)
    features = np.empty((tile, dims + count_levels * size), f4)
    level_inputs, by_input = np.empty((count_levels, BLOCK, inputs), f4), np.empty((BLOCK, whole_vectors(inputs)), f4)
    total = 0.0
    for first in range(begin, end, tile):
        count = min(tile, end - first)
        for k in range(dims):
            for i in range(count):
                features[i, k] = x[k][first + i]
        read_levels(x, first, levels, response, table, dims, features[:count], buffers)
        for low in range(0, count, BLOCK):
            m = min(BLOCK, count - low)
            rows = features[low : low + m]
            _sum_levels(rows, dims, size, level_inputs)
            for l in range(count_levels - 1, -1, -1):
                block = level_inputs[l, :m, :inputs]
                layers, by_block = layers_of(decoders, l), by_input[:m, 0:]
                error = block_gradient(block, y, first + low, shared, network, layers, blocks, by_block)
                total += error if l == count_levels - 1 else 0.0
                for i in range(m):  # a level's features are part of its own sum and of all finer ones
                    for f in range(size):
                        at = dims + l * size + f
                        rows[i, at] = by_input[i, dims + f] + (rows[i, at + size] if l < count_levels - 1 else f4(0))
        add_levels(x, first, levels, response, features[:count], dims, by_table, buffers)
    for l in range(count_levels):
        add_gradient(layers_of(decoders, l), network.starts[l], sizes, by_flat)
    return total * count_levels
