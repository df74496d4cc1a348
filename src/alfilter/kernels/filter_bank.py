"""The network of the Fourier filter bank over a block of points at a time, both ways.

The plain twin is `bank.plain_filter_bank`. w: width, L: levels, d: coordinates, F: features of a level. `sizes`,
`numbers` and `kept` are those of the ReLU network at its end, as in `chain_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.elementwise import f4
from alfilter.kernels.gemm import all_strips, eights, take, times, times_strips
from alfilter.kernels.mlp import BLOCK, RELU, block_backward, block_forward, factors, in_order, stride, strips_room
from alfilter.kernels.rowwise import add_pass, slope_pass, split_pass
from alfilter.kernels.sincos import sine_row

_AROUND = f4(2 * np.pi)


@njit(nogil=True)
def _sines(z: Any, count: int, bias: Any, omega: Any, slope: Any, first: int) -> None:
    """z (count rows) ← sin(ω(z+b)); slope, from the row `first` on, ← its derivative by z."""
    values, offsets, slopes = z.ctypes.data, bias.ctypes.data, slope.ctypes.data
    width, step = len(bias), 4 * z.shape[1]
    for i in range(count):
        sine_row(values + i * step, offsets, omega, slopes + 4 * (first + i) * width, width)


@njit(cache=True, nogil=True)
def bank_forward(
    features: Any,
    entry: Any,
    weights: Any,
    biases: Any,
    cycles: Any,
    omega: Any,
    sizes: Any,
    numbers: Any,
    begun: Any,
    out: Any,
    slopes: Any,
    turns: Any,
    kept: Any,
    values: Any,
) -> None:
    """values (n, c); begun (n, w) = z_0, out (n, L w) = [z_1 … z_L]; slopes (L+1, n, w), turns (L, n, w): of sines.

    features: (n, d + L F). entry: W_0, (w, d). weights: (L, w, w). biases: (L+1, w). cycles: (L, w, F).
    """
    points, (levels, width, size), dims = len(features), cycles.shape, entry.shape[1]
    nothing = np.zeros(width, np.float32)
    start, layers, angles = all_strips(entry[None], True)[0], all_strips(weights, True), all_strips(cycles, True)
    a, b = np.empty((BLOCK, stride(width)), np.float32), np.empty((BLOCK, stride(width)), np.float32)
    whole, row = eights(width), 4 * levels * width
    merge, last = np.empty(strips_room(sizes, False)[-1], np.float32), sizes[-1]
    factors(numbers, sizes, False, merge)
    ends = np.empty((BLOCK, stride(last)), np.float32)
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        times_strips(features[first:end, 0:dims], start, a[:count, 0:whole])
        _sines(a, count, biases[0], omega, slopes[0], first)
        take(a.ctypes.data, a.shape[1], begun.ctypes.data + 4 * first * width, width, count, width)
        for l in range(levels):
            below = begun[first:end, 0:width] if l == 0 else out[first:end, (l - 1) * width : l * width]
            times_strips(below, layers[l], a[:count, 0:whole])
            _sines(a, count, biases[l + 1], omega, slopes[l + 1], first)
            given = dims + l * size
            times_strips(features[first:end, given : given + size], angles[l], b[:count, 0:whole])
            _sines(b, count, nothing, _AROUND, turns[l], first)
            place = out.ctypes.data + first * row + 4 * l * width
            add_pass(place, row, a.ctypes.data, b.ctypes.data, 4 * a.shape[1], count, width)
        block = out[first:end, 0 : sizes[0]]
        block_forward(block, first, points, sizes, numbers, merge, RELU, f4(1), kept, kept, ends, True)
        take(ends.ctypes.data, ends.shape[1], values.ctypes.data + 4 * first * last, last, count, last)


@njit(cache=True, nogil=True)
def bank_backward(
    grad: Any,
    features: Any,
    entry: Any,
    weights: Any,
    cycles: Any,
    sizes: Any,
    numbers: Any,
    begun: Any,
    out: Any,
    slopes: Any,
    turns: Any,
    kept: Any,
    by_features: Any,
    by_entry: Any,
    by_weights: Any,
    by_biases: Any,
    by_cycles: Any,
    by_numbers: Any,
) -> None:
    """The gradients, given that of the values. by_entry: (d, w) and by_cycles: (L, F, w) turned; sums start at zero."""
    points, (levels, width, size), dims = len(features), cycles.shape, entry.shape[1]
    start, layers, angles = all_strips(entry[None], False)[0], all_strips(weights, False), all_strips(cycles, False)
    wide = stride(width)
    by_a, by_b = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    more, edge = np.zeros((BLOCK, wide), np.float32), np.empty((BLOCK, stride(max(size, dims))), np.float32)
    whole, inputs, last = eights(width), features.shape[1], sizes[-1]
    step, own = 4 * wide, 4 * width
    merge = np.empty(strips_room(sizes, True)[-1], np.float32)
    factors(numbers, sizes, True, merge)
    widest = stride(max(sizes[1:]))
    here, there = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    by_block = np.empty((BLOCK, stride(sizes[0])), np.float32)
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        take(grad.ctypes.data + 4 * first * last, last, here.ctypes.data, widest, count, last)
        block = out[first:end, 0 : sizes[0]]
        block_backward(
            here, there, block, first, points, sizes, merge, RELU, kept, kept, by_numbers, by_block[0:BLOCK, 0:]
        )
        more[:] = f4(0)  # of the layer after the last there is nothing
        for l in range(levels - 1, -1, -1):
            split_pass(
                by_block.ctypes.data + 4 * l * width,
                4 * by_block.shape[1],
                more.ctypes.data,
                slopes[l + 1].ctypes.data + first * own,
                turns[l].ctypes.data + first * own,
                own,
                by_a.ctypes.data,
                by_b.ctypes.data,
                step,
                by_biases[l + 1].ctypes.data,
                count,
                width,
            )
            given = dims + l * size
            turned = by_b[:count, 0:width]
            times(features[first:end, given : given + size].T, turned, by_cycles[l], True)
            times_strips(turned, angles[l], edge[:count, 0 : eights(size)])
            target = by_features.ctypes.data + 4 * (first * inputs + given)
            take(edge.ctypes.data, edge.shape[1], target, inputs, count, size)
            below = begun[first:end, 0:width] if l == 0 else out[first:end, (l - 1) * width : l * width]
            g = by_a[:count, 0:width]
            times(g.T, below, by_weights[l], True)
            times_strips(g, layers[l], more[:count, 0:whole])
        slopes_of = slopes[0].ctypes.data + first * own
        slope_pass(more.ctypes.data, step, slopes_of, own, by_biases[0].ctypes.data, count, width)
        g = more[:count, 0:width]
        times(features[first:end, 0:dims].T, g, by_entry, True)
        times_strips(g, start, edge[:count, 0 : eights(dims)])
        take(edge.ctypes.data, edge.shape[1], by_features.ctypes.data + 4 * first * inputs, inputs, count, dims)
    in_order(by_numbers, sizes)
