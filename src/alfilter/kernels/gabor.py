"""One-pass CPU kernels of the layers in `products`; see `kernels` for why and how.

Filters are given transposed, (d, w), so that the inner loops run along memory. A forward leaves the values, `gate` =
∂out/∂a and `turn` = ∂out/∂(Ωx + φ).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.activations import _exp
from alfilter.kernels.elementwise import FAST, f4, sincos


@njit(inline="always", fastmath=FAST)
def _angles(x: Any, i: int, omega: Any, phase: Any, angle: Any) -> None:
    """angle = Ω x_i + φ."""
    for j in range(len(angle)):
        angle[j] = phase[j]
    for k in range(x.shape[1]):
        for j in range(len(angle)):
            angle[j] += x[i, k] * omega[k, j]


@njit(fastmath=FAST, cache=True, nogil=True)
def gabor_product_forward(
    a: Any, bias: Any, x: Any, omega: Any, phase: Any, centre: Any, gamma: Any, out: Any, gate: Any, turn: Any
) -> None:
    """out = (a+b) sin(Ωx+φ) exp(-γ|x-μ|²/2)."""
    rows, width = a.shape
    angle, distance = np.empty(width, dtype=np.float32), np.empty(width, dtype=np.float32)
    for i in range(rows):
        _angles(x, i, omega, phase, angle)
        distance[:] = f4(0)
        for k in range(x.shape[1]):
            for j in range(width):
                d = x[i, k] - centre[k, j]
                distance[j] += d * d
        for j in range(width):
            s, c = sincos(angle[j])
            e = _exp(f4(-0.5) * gamma[j] * distance[j])
            v = a[i, j] + bias[j]
            out[i, j] = v * s * e
            gate[i, j] = s * e
            turn[i, j] = v * c * e


@njit(fastmath=FAST, cache=True, nogil=True)
def product_backward(
    grad: Any, gate: Any, turn: Any, x: Any, by_a: Any, by_bias: Any, by_phase: Any, by_omega: Any
) -> None:
    """by_a = g·gate; by_bias, by_phase (w,) and by_omega (d, w) += the column sums of g·gate, g·turn and x g·turn."""
    rows, width = grad.shape
    turned = np.empty(width, dtype=np.float32)
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] * gate[i, j]
            t = grad[i, j] * turn[i, j]
            by_a[i, j] = g
            by_bias[j] += g
            by_phase[j] += t
            turned[j] = t
        for k in range(x.shape[1]):
            for j in range(width):
                by_omega[k, j] += x[i, k] * turned[j]


@njit(fastmath=FAST, cache=True, nogil=True)
def envelope_backward(grad: Any, out: Any, x: Any, centre: Any, gamma: Any, by_centre: Any, by_gamma: Any) -> None:
    """by_centre (d, w) += Σ g·out γ(x-μ), by_gamma (w,) -= Σ g·out |x-μ|²/2."""
    rows, width = grad.shape
    share = np.empty(width, dtype=np.float32)
    for i in range(rows):
        for j in range(width):
            share[j] = grad[i, j] * out[i, j]
        for k in range(x.shape[1]):
            for j in range(width):
                d = x[i, k] - centre[k, j]
                by_centre[k, j] += share[j] * gamma[j] * d
                by_gamma[j] -= f4(0.5) * share[j] * d * d
