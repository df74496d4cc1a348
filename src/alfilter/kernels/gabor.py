"""A layer multiplied with a Gabor filter, in one pass; the plain version is `core.gabor.gabor_product`.

Filters are transposed, (d, w), so that the inner loops run along memory. The forward pass leaves the values,
by_factor = ∂out/∂a and by_angle = ∂out/∂(Ωx + φ).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.exp import exp
from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.sincos import sincos


@njit(inline="always", fastmath=FAST)
def _angles(x: Any, i: int, omega: Any, phase: Any, angle: Any) -> None:
    """angle = Ω x_i + φ."""
    for j in range(len(angle)):
        angle[j] = phase[j]
    for k in range(x.shape[1]):
        for j in range(len(angle)):
            angle[j] += x[i, k] * omega[k, j]


@kernel(fastmath=FAST)
def gabor_product_forward(
    a: Any, bias: Any, x: Any, omega: Any, phase: Any, centre: Any, gamma: Any, out: Any, by_factor: Any, by_angle: Any
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
            e = exp(f4(-0.5) * gamma[j] * distance[j])
            v = a[i, j] + bias[j]
            out[i, j] = v * s * e
            by_factor[i, j] = s * e
            by_angle[i, j] = v * c * e


@kernel(fastmath=FAST)
def gabor_product_backward(
    grad: Any, by_factor: Any, by_angle: Any, x: Any, by_a: Any, by_bias: Any, by_phase: Any, by_omega: Any
) -> None:
    """by_a = g·by_factor; by_bias, by_phase (w,), by_omega (d, w) += sums of g·by_factor, g·by_angle, x g·by_angle."""
    rows, width = grad.shape
    angle_grad = np.empty(width, dtype=np.float32)
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] * by_factor[i, j]
            t = grad[i, j] * by_angle[i, j]
            by_a[i, j] = g
            by_bias[j] += g
            by_phase[j] += t
            angle_grad[j] = t
        for k in range(x.shape[1]):
            for j in range(width):
                by_omega[k, j] += x[i, k] * angle_grad[j]


@kernel(fastmath=FAST)
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
