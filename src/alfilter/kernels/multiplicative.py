"""Networks of multiplied sine filters over a block of points at a time, both ways.

The plain twin is `filters.plain_sine_filters`. w: width, L: layers, d: coordinates, H: outputs, of the last H layers.
What is kept for the way back are v_i = W_i z_{i-1} + b_i alone, (L, n, stride): a sine is sooner computed again than
read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.elementwise import f4
from alfilter.kernels.gemm import all_strips, eights, take, times, times_strips
from alfilter.kernels.mlp import BLOCK, stride
from alfilter.kernels.rowwise import add_pass, multiply_pass, shift_pass, slope_pass, turn_pass
from alfilter.kernels.sincos import sine_row


@njit(nogil=True)
def _filter(x: Any, factor: Any, phase: Any, sine: Any, cosine: Any) -> None:
    """sine, cosine (m, stride) ← those of Ωx + φ."""
    width, step = len(phase), 4 * sine.shape[1]
    times_strips(x, factor, sine[: len(x), 0 : eights(width)])
    for i in range(len(x)):
        sine_row(sine.ctypes.data + i * step, phase.ctypes.data, f4(1), cosine.ctypes.data + i * step, width)


@njit(cache=True, nogil=True)
def filters_forward(
    x: Any,
    omegas: Any,
    phases: Any,
    weights: Any,
    biases: Any,
    heads: Any,
    head_biases: Any,
    kept: Any,
    out: Any,
) -> None:
    """out (H, n, c). omegas: (L+1, w, d), phases: (L+1, w), weights: (L, w, w), heads: (H, c, w)."""
    (layers, width, _), points, (outputs, values) = weights.shape, len(x), head_biases.shape
    entries, factors, ends = all_strips(omegas, True), all_strips(weights, True), all_strips(heads, True)
    wide = stride(width)
    z, cosine = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    made, step = np.empty((BLOCK, stride(values)), np.float32), 4 * wide
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _filter(block, entries[0], phases[0], z, cosine)
        for l in range(layers):
            v = kept[l, first : first + count]
            times_strips(z[:count, 0:width], factors[l], v[:, 0 : eights(width)])
            shift_pass(v.ctypes.data, step, biases[l].ctypes.data, count, width)
            _filter(block, entries[l + 1], phases[l + 1], z, cosine)
            multiply_pass(z.ctypes.data, z.ctypes.data, v.ctypes.data, step, count, width)
            head = l - (layers - outputs)
            if head >= 0:
                times_strips(z[:count, 0:width], ends[head], made[:count, 0 : eights(values)])
                shift_pass(made.ctypes.data, 4 * made.shape[1], head_biases[head].ctypes.data, count, values)
                target = out.ctypes.data + 4 * (head * points + first) * values
                take(made.ctypes.data, made.shape[1], target, values, count, values)


@njit(cache=True, nogil=True)
def filters_backward(
    grad: Any,
    x: Any,
    omegas: Any,
    phases: Any,
    weights: Any,
    heads: Any,
    kept: Any,
    by_omegas: Any,
    by_phases: Any,
    by_weights: Any,
    by_biases: Any,
    by_heads: Any,
) -> None:
    """The gradients, given that of out; by_omegas: (L+1, d, w) turned. All start at zero."""
    (layers, width, _), points, (outputs, values, _) = weights.shape, len(x), heads.shape
    entries, factors, ends = all_strips(omegas, True), all_strips(weights, False), all_strips(heads, False)
    wide, whole = stride(width), eights(width)
    step = 4 * wide
    g, more = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    by_v, by_h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    sine, cosine = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    sine_below, cosine_below = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    z, pull = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, stride(values)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _filter(block, entries[layers], phases[layers], sine, cosine)
        for l in range(layers - 1, -1, -1):
            v, head = kept[l, first:].ctypes.data, l - (layers - outputs)
            if head >= 0:
                multiply_pass(z.ctypes.data, sine.ctypes.data, v, step, count, width)
                given = grad.ctypes.data + 4 * (head * points + first) * values
                take(given, values, pull.ctypes.data, pull.shape[1], count, values)
                times(pull[:count, 0:values].T, z[:count, 0:width], by_heads[head], True)
                if l == layers - 1:
                    times_strips(pull[:count, 0:values], ends[head], g[:count, 0:whole])
                else:
                    times_strips(pull[:count, 0:values], ends[head], more[:count, 0:whole])
                    add_pass(g.ctypes.data, step, g.ctypes.data, more.ctypes.data, step, count, width)
            sums, more_sums = by_biases[l].ctypes.data, by_phases[l + 1].ctypes.data
            sides, made = (sine.ctypes.data, cosine.ctypes.data), (by_v.ctypes.data, by_h.ctypes.data)
            turn_pass(g.ctypes.data, v, sides[0], sides[1], made[0], made[1], step, sums, more_sums, count, width)
            times(block.T, by_h[:count, 0:width], by_omegas[l + 1], True)
            _filter(block, entries[l], phases[l], sine_below, cosine_below)
            below = sine_below
            if l > 0:
                multiply_pass(z.ctypes.data, below.ctypes.data, kept[l - 1, first:].ctypes.data, step, count, width)
                below = z
            times(by_v[:count, 0:width].T, below[:count, 0:width], by_weights[l], True)
            times_strips(by_v[:count, 0:width], factors[l], g[:count, 0:whole])
            sine, sine_below = sine_below, sine
            cosine, cosine_below = cosine_below, cosine
        slope_pass(g.ctypes.data, step, cosine.ctypes.data, step, by_phases[0].ctypes.data, count, width)
        times(block.T, g[:count, 0:width], by_omegas[0], True)
