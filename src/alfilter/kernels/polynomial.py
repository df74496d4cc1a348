"""Poly-INR's levels over a block of points at a time, both ways.

The plain twin is `polynomial.plain_polynomial`. w: width, L: levels, d: coordinates. What is kept for the way back are
the levels' v_i = W_i z_i + b_i alone, (L, n, stride): the rest is sooner computed again than read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.gemm import all_strips, eights, take, times, times_strips
from alfilter.kernels.mlp import BLOCK, stride
from alfilter.kernels.rowwise import leaky_gradient_pass, leaky_pass, open_leaky_pass, shift_pass, sum_pass


@njit(nogil=True)
def _affine(x: Any, factor: Any, offset: Any, out: Any) -> None:
    """out (m, stride) ← A x + c."""
    times_strips(x, factor, out[: len(x), 0 : eights(len(offset))])
    shift_pass(out.ctypes.data, 4 * out.shape[1], offset.ctypes.data, len(x), len(offset))


@njit(cache=True, nogil=True)
def polynomial_forward(
    x: Any,
    maps: Any,
    offsets: Any,
    weights: Any,
    biases: Any,
    head: Any,
    head_bias: Any,
    slope: Any,
    kept: Any,
    out: Any,
) -> None:
    """out (n, c); maps: (L, w, d), offsets, biases: (L, w), weights: (L, w, w), head: (1, c, w), head_bias: (c,)."""
    (levels, width, _), points, values = maps.shape, len(x), len(head_bias)
    entries, factors, last = all_strips(maps, True), all_strips(weights, True), all_strips(head, True)
    wide = stride(width)
    z, h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    ends, step = np.empty((BLOCK, stride(values)), np.float32), 4 * wide
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _affine(block, entries[0], offsets[0], z)
        for l in range(levels):
            v = kept[l, first : first + count]
            times_strips(z[:count, 0:width], factors[l], v[:, 0 : eights(width)])
            shift_pass(v.ctypes.data, step, biases[l].ctypes.data, count, width)
            if l < levels - 1:
                _affine(block, entries[l + 1], offsets[l + 1], h)
                leaky_pass(v.ctypes.data, h.ctypes.data, z.ctypes.data, step, slope, count, width)
            else:
                open_leaky_pass(v.ctypes.data, z.ctypes.data, step, slope, count, width)
        _affine(z[:count, 0:width], last[0], head_bias, ends)
        take(ends.ctypes.data, ends.shape[1], out.ctypes.data + 4 * first * values, values, count, values)


@njit(cache=True, nogil=True)
def polynomial_backward(
    grad: Any,
    x: Any,
    maps: Any,
    offsets: Any,
    weights: Any,
    head: Any,
    slope: Any,
    kept: Any,
    by_maps: Any,
    by_offsets: Any,
    by_weights: Any,
    by_biases: Any,
    by_head: Any,
) -> None:
    """The gradients, given that of out; by_maps: (L, d, w) turned. All start at zero."""
    (levels, width, _), points, values = maps.shape, len(x), head.shape[1]
    entries, factors, last = all_strips(maps, True), all_strips(weights, False), all_strips(head, False)
    wide = stride(width)
    step, nothing = 4 * wide, np.zeros(width, np.float32)
    g, z = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    by_v, by_h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    h, h_below = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    ends = np.empty((BLOCK, stride(values)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        take(grad.ctypes.data + 4 * first * values, values, ends.ctypes.data, ends.shape[1], count, values)
        open_leaky_pass(kept[levels - 1, first:].ctypes.data, z.ctypes.data, step, slope, count, width)
        times(ends[:count, 0:values].T, z[:count, 0:width], by_head, True)
        times_strips(ends[:count, 0:values], last[0], g[:count, 0 : eights(width)])
        for l in range(levels - 1, -1, -1):
            v = kept[l, first:].ctypes.data
            if l == levels - 1:
                h[:] = np.float32(1)  # the last level is multiplied with nothing
            made_v, made_h = by_v.ctypes.data, by_h.ctypes.data
            sums, more = by_biases[l].ctypes.data, (by_offsets[l + 1] if l < levels - 1 else nothing).ctypes.data
            leaky_gradient_pass(g.ctypes.data, v, h.ctypes.data, made_v, made_h, step, sums, more, slope, count, width)
            if l < levels - 1:
                times(block.T, by_h[:count, 0:width], by_maps[l + 1], True)
            _affine(block, entries[l], offsets[l], h_below)
            if l > 0:
                below = kept[l - 1, first:].ctypes.data
                leaky_pass(below, h_below.ctypes.data, z.ctypes.data, step, slope, count, width)
                source = z[:count, 0:width]
            else:
                source = h_below[:count, 0:width]
            made = by_v[:count, 0:width]
            times(made.T, source, by_weights[l], True)
            times_strips(made, factors[l], g[:count, 0 : eights(width)])
            h, h_below = h_below, h
        times(block.T, g[:count, 0:width], by_maps[0], True)
        sum_pass(g.ctypes.data, step, by_offsets[0].ctypes.data, count, width)
