"""The network of the Fourier filter bank over a block of points at a time, forward and backward.

The plain version is `core.filter_bank.filter_bank`. w: width, L: levels, d: coordinates, F: features of a level.
`sizes`, `params` and `hidden` are those of the ReLU network at its end, as in `kernels.mlp`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.gemm import copy_block, gemm, gemm_packed, pack_all_panels, whole_vectors
from alfilter.kernels.jit import f4, kernel
from alfilter.kernels.mlp import (
    BLOCK,
    RELU,
    block_backward,
    block_forward,
    pack_weights,
    panel_offsets,
    restore_weight_order,
    stride,
    widest_row,
)
from alfilter.kernels.rowwise import add_rows, sine_sum_backward, slope_backward
from alfilter.kernels.sincos import sine_row

_TWO_PI = f4(2 * np.pi)


@njit(nogil=True)
def _sines(z: Any, count: int, bias: Any, omega: Any, slope: Any, first: int) -> None:
    """z (count rows) ← sin(ω(z+b)); slope, from row `first` on, ← its derivative in z."""
    values, offsets, slopes = z.ctypes.data, bias.ctypes.data, slope.ctypes.data
    width, step = len(bias), 4 * z.shape[1]
    for i in range(count):
        sine_row(values + i * step, offsets, omega, slopes + 4 * (first + i) * width, width)


@kernel()
def filter_bank_forward(
    features: Any,
    entry: Any,
    weights: Any,
    biases: Any,
    cycles: Any,
    omega: Any,
    sizes: Any,
    params: Any,
    first_layer: Any,
    out: Any,
    slopes: Any,
    level_slopes: Any,
    hidden: Any,
    values: Any,
) -> None:
    """values (n, c); first_layer (n, w) = z_0, out (n, L w) = [z_1 … z_L]; slopes (L+1, n, w), level_slopes (L, n, w).

    features: (n, d + L F). entry: W_0, (w, d). weights: (L, w, w). biases: (L+1, w). cycles: (L, w, F).
    """
    points, (levels, width, size), dims = len(features), cycles.shape, entry.shape[1]
    no_bias = np.zeros(width, np.float32)
    start, layers, angles = (
        pack_all_panels(entry[None], True)[0],
        pack_all_panels(weights, True),
        pack_all_panels(cycles, True),
    )
    a, b = np.empty((BLOCK, stride(width)), np.float32), np.empty((BLOCK, stride(width)), np.float32)
    whole, row = whole_vectors(width), 4 * levels * width
    merge_panels, last = np.empty(panel_offsets(sizes, False)[-1], np.float32), sizes[-1]
    pack_weights(params, sizes, False, merge_panels)
    output = np.empty((BLOCK, stride(last)), np.float32)
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        gemm_packed(features[first:end, 0:dims], start, a[:count, 0:whole])
        _sines(a, count, biases[0], omega, slopes[0], first)
        copy_block(a.ctypes.data, a.shape[1], first_layer.ctypes.data + 4 * first * width, width, count, width)
        for l in range(levels):
            below = first_layer[first:end, 0:width] if l == 0 else out[first:end, (l - 1) * width : l * width]
            gemm_packed(below, layers[l], a[:count, 0:whole])
            _sines(a, count, biases[l + 1], omega, slopes[l + 1], first)
            column = dims + l * size
            gemm_packed(features[first:end, column : column + size], angles[l], b[:count, 0:whole])
            _sines(b, count, no_bias, _TWO_PI, level_slopes[l], first)
            target = out.ctypes.data + first * row + 4 * l * width
            add_rows(target, row, a.ctypes.data, b.ctypes.data, 4 * a.shape[1], count, width)
        block = out[first:end, 0 : sizes[0]]
        block_forward(block, first, points, sizes, params, merge_panels, RELU, f4(1), hidden, hidden, output, True)
        copy_block(output.ctypes.data, output.shape[1], values.ctypes.data + 4 * first * last, last, count, last)


@kernel()
def filter_bank_backward(
    grad: Any,
    features: Any,
    entry: Any,
    weights: Any,
    cycles: Any,
    sizes: Any,
    params: Any,
    first_layer: Any,
    out: Any,
    slopes: Any,
    level_slopes: Any,
    hidden: Any,
    by_features: Any,
    by_entry: Any,
    by_weights: Any,
    by_biases: Any,
    by_cycles: Any,
    by_params: Any,
) -> None:
    """The gradients, from that of values. by_entry: (d, w), by_cycles: (L, F, w), transposed; sums start at zero."""
    points, (levels, width, size), dims = len(features), cycles.shape, entry.shape[1]
    start, layers, angles = (
        pack_all_panels(entry[None], False)[0],
        pack_all_panels(weights, False),
        pack_all_panels(cycles, False),
    )
    wide = stride(width)
    by_a, by_b = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    more, edge = np.zeros((BLOCK, wide), np.float32), np.empty((BLOCK, stride(max(size, dims))), np.float32)
    whole, inputs, last = whole_vectors(width), features.shape[1], sizes[-1]
    step, own = 4 * wide, 4 * width
    merge_panels = np.empty(panel_offsets(sizes, True)[-1], np.float32)
    pack_weights(params, sizes, True, merge_panels)
    widest = widest_row(sizes)
    block_grad, spare = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    by_block = np.empty((BLOCK, stride(sizes[0])), np.float32)
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        copy_block(grad.ctypes.data + 4 * first * last, last, block_grad.ctypes.data, widest, count, last)
        block = out[first:end, 0 : sizes[0]]
        block_backward(
            block_grad,
            spare,
            block,
            first,
            points,
            sizes,
            merge_panels,
            RELU,
            hidden,
            hidden,
            by_params,
            by_block[0:BLOCK, 0:],
        )
        more[:] = f4(0)  # no layer follows the last one
        for l in range(levels - 1, -1, -1):
            sine_sum_backward(
                by_block.ctypes.data + 4 * l * width,
                4 * by_block.shape[1],
                more.ctypes.data,
                slopes[l + 1].ctypes.data + first * own,
                level_slopes[l].ctypes.data + first * own,
                own,
                by_a.ctypes.data,
                by_b.ctypes.data,
                step,
                by_biases[l + 1].ctypes.data,
                count,
                width,
            )
            column = dims + l * size
            by_angle = by_b[:count, 0:width]
            gemm(features[first:end, column : column + size].T, by_angle, by_cycles[l], True)
            gemm_packed(by_angle, angles[l], edge[:count, 0 : whole_vectors(size)])
            target = by_features.ctypes.data + 4 * (first * inputs + column)
            copy_block(edge.ctypes.data, edge.shape[1], target, inputs, count, size)
            below = first_layer[first:end, 0:width] if l == 0 else out[first:end, (l - 1) * width : l * width]
            g = by_a[:count, 0:width]
            gemm(g.T, below, by_weights[l], True)
            gemm_packed(g, layers[l], more[:count, 0:whole])
        slopes_of = slopes[0].ctypes.data + first * own
        slope_backward(more.ctypes.data, step, slopes_of, own, by_biases[0].ctypes.data, count, width)
        g = more[:count, 0:width]
        gemm(features[first:end, 0:dims].T, g, by_entry, True)
        gemm_packed(g, start, edge[:count, 0 : whole_vectors(dims)])
        copy_block(edge.ctypes.data, edge.shape[1], by_features.ctypes.data + 4 * first * inputs, inputs, count, dims)
    restore_weight_order(by_params, sizes)
