"""γ'(x) = H_B(α(x)) ⊙ γ(x) and its derivative in α, in one pass; plain: `core.fourier.filtered_encoding`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.sincos import sincos

_NEGLIGIBLE = 18.0  # e^-18 is below half a unit in the last place of one


@njit(inline="always", fastmath=FAST)
def _edge(shift: Any, kappa: Any, powers: Any, sigmoid: Any, rest: Any) -> None:
    """sigmoid_c = σ(κ(c+shift)) and rest_c = 1-sigmoid_c for all channels, by two exponentials and powers_m = e^(-κm).

    Channels one apart differ by the factor e^-κ, so only the two exponentials next to the edge are needed, and channels
    further than 18/κ from it are 0 or 1 in float32. Every exponent used is ≤ 0: the stable form of the sigmoid.
    """
    channels = len(sigmoid)
    reach = int(_NEGLIGIBLE / kappa) + 2
    first = min(max(int(np.ceil(-shift)), 0), channels)  # the first channel at or above the edge
    begin, end = max(first - reach, 0), min(first + reach, channels)
    sigmoid[:begin], rest[:begin] = f4(0), f4(1)
    sigmoid[end:], rest[end:] = f4(1), f4(0)
    below = f4(np.exp(np.float64(kappa) * (first - 1 + shift)))
    for c in range(begin, first):
        e = below * powers[first - 1 - c]
        sigmoid[c] = e / (f4(1) + e)
        rest[c] = f4(1) / (f4(1) + e)
    above = f4(np.exp(-np.float64(kappa) * (first + shift)))
    for c in range(first, end):
        e = above * powers[c - first]
        sigmoid[c] = f4(1) / (f4(1) + e)
        rest[c] = e / (f4(1) + e)


@kernel(fastmath=FAST)
def filtered_encoding_forward(
    x: Any, alpha: Any, half: Any, kappa: Any, peak: Any, powers: Any, out: Any, slope: Any
) -> None:
    """out = H_B(α) ⊙ γ(x) and slope = ∂out/∂α, both (n, 2dL).

    half: B/2. peak: 1-e^(-κB). powers: e^(-κm) for m = 0 … 2dL-1.
    """
    rows, dims = x.shape
    channels = len(powers)
    angles = np.empty(channels // 2, dtype=np.float32)
    scales = np.empty(channels // 2, dtype=np.float32)
    for m in range(channels // 2):
        scales[m] = f4(np.pi) * f4(2.0 ** (m // dims))
    up, up_rest = np.empty(channels, dtype=np.float32), np.empty(channels, dtype=np.float32)
    down, down_rest = np.empty(channels, dtype=np.float32), np.empty(channels, dtype=np.float32)
    for i in range(rows):
        for m in range(channels // 2):
            angles[m] = x[i, m % dims] * scales[m]
        for m in range(channels // 2):
            out[i, 2 * m], out[i, 2 * m + 1] = sincos(angles[m])
        _edge(half - alpha[i], kappa, powers, up, up_rest)
        _edge(-half - alpha[i], kappa, powers, down, down_rest)
        for c in range(channels):
            filtered = out[i, c] * (up[c] * down_rest[c] * peak)
            out[i, c] = filtered
            slope[i, c] = filtered * kappa * (down[c] - up_rest[c])


@kernel(fastmath=FAST)
def row_dot(a: Any, b: Any, out: Any) -> None:
    """out_i = Σ_j a_ij b_ij; (n, w), (n, w) → (n,)."""
    rows, width = a.shape
    for i in range(rows):
        total = f4(0)
        for j in range(width):
            total += a[i, j] * b[i, j]
        out[i] = total
