"""Networks of multiplied sine filters over a block of points at a time, forward and backward.

The plain version is `core.multiplicative.sine_filters`. w: width, L: layers, d: coordinates, H: outputs, of the last H
layers. Only v_i = W_i z_{i-1} + b_i is saved for the backward pass, (L, n, stride): computing a sine again is faster
than reading it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.gemm import copy_block, gemm, gemm_packed, pack_all_panels, whole_vectors
from alfilter.kernels.jit import f4, kernel
from alfilter.kernels.mlp import BLOCK, stride
from alfilter.kernels.rowwise import add_bias, add_rows, multiply_rows, sine_product_backward, slope_backward
from alfilter.kernels.sincos import sine_row


@njit(nogil=True)
def _filter(x: Any, factor: Any, phase: Any, sine: Any, cosine: Any) -> None:
    """sine, cosine (m, stride) ← those of Ωx + φ."""
    width, step = len(phase), 4 * sine.shape[1]
    gemm_packed(x, factor, sine[: len(x), 0 : whole_vectors(width)])
    for i in range(len(x)):
        sine_row(sine.ctypes.data + i * step, phase.ctypes.data, f4(1), cosine.ctypes.data + i * step, width)


@kernel()
def sine_filters_forward(
    x: Any,
    omegas: Any,
    phases: Any,
    weights: Any,
    biases: Any,
    heads: Any,
    head_biases: Any,
    saved: Any,
    out: Any,
) -> None:
    """out (H, n, c). omegas: (L+1, w, d), phases: (L+1, w), weights: (L, w, w), heads: (H, c, w)."""
    (layers, width, _), points, (outputs, values) = weights.shape, len(x), head_biases.shape
    filter_panels, layer_panels, head_panels = (
        pack_all_panels(omegas, True),
        pack_all_panels(weights, True),
        pack_all_panels(heads, True),
    )
    wide = stride(width)
    z, cosine = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    output, step = np.empty((BLOCK, stride(values)), np.float32), 4 * wide
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _filter(block, filter_panels[0], phases[0], z, cosine)
        for l in range(layers):
            v = saved[l, first : first + count]
            gemm_packed(z[:count, 0:width], layer_panels[l], v[:, 0 : whole_vectors(width)])
            add_bias(v.ctypes.data, step, biases[l].ctypes.data, count, width)
            _filter(block, filter_panels[l + 1], phases[l + 1], z, cosine)
            multiply_rows(z.ctypes.data, z.ctypes.data, v.ctypes.data, step, count, width)
            head = l - (layers - outputs)
            if head >= 0:
                gemm_packed(z[:count, 0:width], head_panels[head], output[:count, 0 : whole_vectors(values)])
                add_bias(output.ctypes.data, 4 * output.shape[1], head_biases[head].ctypes.data, count, values)
                target = out.ctypes.data + 4 * (head * points + first) * values
                copy_block(output.ctypes.data, output.shape[1], target, values, count, values)


@kernel()
def sine_filters_backward(
    grad: Any,
    x: Any,
    omegas: Any,
    phases: Any,
    weights: Any,
    heads: Any,
    saved: Any,
    by_omegas: Any,
    by_phases: Any,
    by_weights: Any,
    by_biases: Any,
    by_heads: Any,
) -> None:
    """The gradients, from that of out; by_omegas: (L+1, d, w), transposed. All start at zero."""
    (layers, width, _), points, (outputs, values, _) = weights.shape, len(x), heads.shape
    filter_panels, layer_panels, head_panels = (
        pack_all_panels(omegas, True),
        pack_all_panels(weights, False),
        pack_all_panels(heads, False),
    )
    wide, whole = stride(width), whole_vectors(width)
    step = 4 * wide
    g, more = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    by_v, by_h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    sine, cosine = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    sine_below, cosine_below = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    z, head_grad = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, stride(values)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _filter(block, filter_panels[layers], phases[layers], sine, cosine)
        for l in range(layers - 1, -1, -1):
            v, head = saved[l, first:].ctypes.data, l - (layers - outputs)
            if head >= 0:
                multiply_rows(z.ctypes.data, sine.ctypes.data, v, step, count, width)
                start = grad.ctypes.data + 4 * (head * points + first) * values
                copy_block(start, values, head_grad.ctypes.data, head_grad.shape[1], count, values)
                gemm(head_grad[:count, 0:values].T, z[:count, 0:width], by_heads[head], True)
                if l == layers - 1:
                    gemm_packed(head_grad[:count, 0:values], head_panels[head], g[:count, 0:whole])
                else:
                    gemm_packed(head_grad[:count, 0:values], head_panels[head], more[:count, 0:whole])
                    add_rows(g.ctypes.data, step, g.ctypes.data, more.ctypes.data, step, count, width)
            v_sums, h_sums = by_biases[l].ctypes.data, by_phases[l + 1].ctypes.data
            sine_at, cosine_at, by_v_at, by_h_at = (
                sine.ctypes.data,
                cosine.ctypes.data,
                by_v.ctypes.data,
                by_h.ctypes.data,
            )
            sine_product_backward(
                g.ctypes.data, v, sine_at, cosine_at, by_v_at, by_h_at, step, v_sums, h_sums, count, width
            )
            gemm(block.T, by_h[:count, 0:width], by_omegas[l + 1], True)
            _filter(block, filter_panels[l], phases[l], sine_below, cosine_below)
            below = sine_below
            if l > 0:
                multiply_rows(z.ctypes.data, below.ctypes.data, saved[l - 1, first:].ctypes.data, step, count, width)
                below = z
            gemm(by_v[:count, 0:width].T, below[:count, 0:width], by_weights[l], True)
            gemm_packed(by_v[:count, 0:width], layer_panels[l], g[:count, 0:whole])
            sine, sine_below = sine_below, sine
            cosine, cosine_below = cosine_below, cosine
        slope_backward(g.ctypes.data, step, cosine.ctypes.data, step, by_phases[0].ctypes.data, count, width)
        gemm(block.T, g[:count, 0:width], by_omegas[0], True)
