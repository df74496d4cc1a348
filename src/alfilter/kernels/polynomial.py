"""Poly-INR's levels over a block of points at a time, forward and backward.

The plain version is `core.polynomial.polynomial`. w: width, L: levels, d: coordinates. Only the levels'
v_i = W_i z_i + b_i is saved for the backward pass, (L, n, stride): computing the rest again is faster than reading it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.gemm import copy_block, gemm, gemm_packed, pack_all_panels, whole_vectors
from alfilter.kernels.jit import kernel
from alfilter.kernels.mlp import BLOCK, stride
from alfilter.kernels.rowwise import (
    add_bias,
    add_column_sums,
    leaky_relu,
    leaky_relu_product,
    leaky_relu_product_backward,
)


@njit(nogil=True)
def _affine(x: Any, factor: Any, offset: Any, out: Any) -> None:
    """out (m, stride) ← A x + c."""
    gemm_packed(x, factor, out[: len(x), 0 : whole_vectors(len(offset))])
    add_bias(out.ctypes.data, 4 * out.shape[1], offset.ctypes.data, len(x), len(offset))


@kernel()
def polynomial_forward(
    x: Any,
    maps: Any,
    offsets: Any,
    weights: Any,
    biases: Any,
    head: Any,
    head_bias: Any,
    slope: Any,
    saved: Any,
    out: Any,
) -> None:
    """out (n, c); maps: (L, w, d), offsets, biases: (L, w), weights: (L, w, w), head: (1, c, w), head_bias: (c,)."""
    (levels, width, _), points, values = maps.shape, len(x), len(head_bias)
    map_panels, layer_panels, head_panels = (
        pack_all_panels(maps, True),
        pack_all_panels(weights, True),
        pack_all_panels(head, True),
    )
    wide = stride(width)
    z, h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    output, step = np.empty((BLOCK, stride(values)), np.float32), 4 * wide
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        _affine(block, map_panels[0], offsets[0], z)
        for l in range(levels):
            v = saved[l, first : first + count]
            gemm_packed(z[:count, 0:width], layer_panels[l], v[:, 0 : whole_vectors(width)])
            add_bias(v.ctypes.data, step, biases[l].ctypes.data, count, width)
            if l < levels - 1:
                _affine(block, map_panels[l + 1], offsets[l + 1], h)
                leaky_relu_product(v.ctypes.data, h.ctypes.data, z.ctypes.data, step, slope, count, width)
            else:
                leaky_relu(v.ctypes.data, z.ctypes.data, step, slope, count, width)
        _affine(z[:count, 0:width], head_panels[0], head_bias, output)
        copy_block(output.ctypes.data, output.shape[1], out.ctypes.data + 4 * first * values, values, count, values)


@kernel()
def polynomial_backward(
    grad: Any,
    x: Any,
    maps: Any,
    offsets: Any,
    weights: Any,
    head: Any,
    slope: Any,
    saved: Any,
    by_maps: Any,
    by_offsets: Any,
    by_weights: Any,
    by_biases: Any,
    by_head: Any,
) -> None:
    """The gradients, from that of out; by_maps: (L, d, w), transposed. All start at zero."""
    (levels, width, _), points, values = maps.shape, len(x), head.shape[1]
    map_panels, layer_panels, head_panels = (
        pack_all_panels(maps, True),
        pack_all_panels(weights, False),
        pack_all_panels(head, False),
    )
    wide = stride(width)
    step, no_sums = 4 * wide, np.zeros(width, np.float32)
    g, z = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    by_v, by_h = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    h, h_below = np.empty((BLOCK, wide), np.float32), np.empty((BLOCK, wide), np.float32)
    output = np.empty((BLOCK, stride(values)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), 0:]
        count = len(block)
        copy_block(grad.ctypes.data + 4 * first * values, values, output.ctypes.data, output.shape[1], count, values)
        leaky_relu(saved[levels - 1, first:].ctypes.data, z.ctypes.data, step, slope, count, width)
        gemm(output[:count, 0:values].T, z[:count, 0:width], by_head, True)
        gemm_packed(output[:count, 0:values], head_panels[0], g[:count, 0 : whole_vectors(width)])
        for l in range(levels - 1, -1, -1):
            v = saved[l, first:].ctypes.data
            if l == levels - 1:
                h[:] = np.float32(1)  # the head_panels level has no second factor
            by_v_at, by_h_at = by_v.ctypes.data, by_h.ctypes.data
            v_sums, h_sums = by_biases[l].ctypes.data, (by_offsets[l + 1] if l < levels - 1 else no_sums).ctypes.data
            leaky_relu_product_backward(
                g.ctypes.data, v, h.ctypes.data, by_v_at, by_h_at, step, v_sums, h_sums, slope, count, width
            )
            if l < levels - 1:
                gemm(block.T, by_h[:count, 0:width], by_maps[l + 1], True)
            _affine(block, map_panels[l], offsets[l], h_below)
            if l > 0:
                below = saved[l - 1, first:].ctypes.data
                leaky_relu_product(below, h_below.ctypes.data, z.ctypes.data, step, slope, count, width)
                source = z[:count, 0:width]
            else:
                source = h_below[:count, 0:width]
            v_grad = by_v[:count, 0:width]
            gemm(v_grad.T, source, by_weights[l], True)
            gemm_packed(v_grad, layer_panels[l], g[:count, 0 : whole_vectors(width)])
            h, h_below = h_below, h
        gemm(block.T, g[:count, 0:width], by_maps[0], True)
        add_column_sums(g.ctypes.data, step, by_offsets[0].ctypes.data, count, width)
