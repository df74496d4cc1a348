"""One-pass CPU kernels for what plain tensor code does in many: sine layers, ReLU layers, the filter, the grid.

A training step of a small field is matrix products plus passes over the activations. Those passes, not the products,
are what can be saved: sine and cosine of the same angle share their range reduction, a bias costs nothing while a value
is in a register, and a column sum comes free with the product it sums. Every kernel here has a plain twin in `layers`,
`filter` or `grid`, which is the reference of its test and the path taken for any other device or precision.

They run on one thread and release the interpreter's lock: pieces of a batch run side by side (`parallel`), which needs
no barrier inside a layer and leaves a result independent of who computed which piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.sincos import COSINE, ONE_OVER_PI, PI, SINE, sine_row

f4 = np.float32
# Contractions to fused multiply-adds are welcome; reassociation and finite-only arithmetic are not, since a NaN must
# reach the loss and sums must not depend on the compiler's mood.
FAST = {"contract", "nsz", "arcp"}

_PI, _ONE_OVER_PI = (f4(PI[0]), f4(PI[1])), f4(ONE_OVER_PI)
_S, _C = tuple(f4(number) for number in SINE), tuple(f4(number) for number in COSINE)
_NEGLIGIBLE = 18.0  # e^-18 is below half a unit in the last place of one


@njit(inline="always", fastmath=FAST)
def sincos(z: Any) -> Any:
    """Sine and cosine together: reduce by π in two parts, polynomials on [-π/2, π/2], a common sign. Good to 2e-7."""
    turns = np.rint(z * _ONE_OVER_PI)
    r = z - turns * _PI[0]  # exact with a fused multiply-add
    r = r - turns * _PI[1]
    u = r * r
    s = (((_S[0] * u + _S[1]) * u + _S[2]) * u + _S[3]) * u + _S[4]
    c = ((((_C[0] * u + _C[1]) * u + _C[2]) * u + _C[3]) * u + _C[4]) * u + _C[5]
    s = s * u * r + r
    odd = np.int32(np.int32(turns) << 31)  # half turns change the sign bit
    s, c = np.float32(s).view(np.int32) ^ odd, np.float32(c).view(np.int32) ^ odd
    return np.int32(s).view(np.float32), np.int32(c).view(np.float32)


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


@njit(fastmath=FAST, cache=True, nogil=True)
def sine_forward(z: Any, bias: Any, omega: Any, slope: Any) -> None:
    """z ← sin(ω(z+b)) in place, slope = ω cos(ω(z+b)); both (n, w), in one piece like b."""
    rows, width = z.shape
    values, offsets, slopes = z.ctypes.data, bias.ctypes.data, slope.ctypes.data
    for i in range(rows):
        first = 4 * i * width
        sine_row(values + first, offsets, omega, slopes + first, width)


@njit(fastmath=FAST, cache=True, nogil=True)
def sine_backward(grad: Any, slope: Any, sums: Any) -> None:
    """grad ← grad ⊙ slope in place (n, w); sums (w,) += its column sums."""
    rows, width = grad.shape
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] * slope[i, j]
            grad[i, j] = g
            sums[j] += g


@njit(fastmath=FAST, cache=True, nogil=True)
def relu_forward(z: Any, bias: Any) -> None:
    """z ← max(z+b, 0) in place, NaN kept; (n, w)."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            v = z[i, j] + bias[j]
            z[i, j] = f4(0) if v < f4(0) else v


@njit(fastmath=FAST, cache=True, nogil=True)
def relu_backward(grad: Any, value: Any, sums: Any) -> None:
    """grad ← grad where value > 0, else 0, in place (n, w); sums (w,) += its column sums."""
    rows, width = grad.shape
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] if value[i, j] > f4(0) else f4(0)
            grad[i, j] = g
            sums[j] += g


@njit(fastmath=FAST, cache=True, nogil=True)
def filter_forward(x: Any, alpha: Any, half: Any, kappa: Any, peak: Any, powers: Any, out: Any, slope: Any) -> None:
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


@njit(fastmath=FAST, cache=True, nogil=True)
def row_dot(a: Any, b: Any, out: Any) -> None:
    """out_i = Σ_j a_ij b_ij; (n, w), (n, w) → (n,)."""
    rows, width = a.shape
    for i in range(rows):
        total = f4(0)
        for j in range(width):
            total += a[i, j] * b[i, j]
        out[i] = total


@njit(fastmath=FAST, inline="always")
def _beside(x: Any, last: int, stride: int) -> Any:
    """The flat offsets of the nodes below and above a place on an axis, and the upper one's weight."""
    p = (min(max(x, f4(-1)), f4(1)) + f4(1)) * (f4(last) * f4(0.5))
    node = min(int(p), max(last - 1, 0))  # p is not negative
    return node * stride, min(node + 1, last) * stride, p - f4(node)


@njit(fastmath=FAST, inline="always")
def _corner(x: Any, i: int, shape: Any, strides: Any, corner: int) -> Any:
    """Flat index and weight of one corner of the cell of point i: bit k says which node of axis k."""
    index, share = 0, f4(1)
    for k in range(x.shape[1]):
        low, high, weight = _beside(x[i, k], shape[k] - 1, strides[k])
        if (corner >> k) & 1:
            index, share = index + high, share * weight
        else:
            index, share = index + low, share * (f4(1) - weight)
    return index, share


@njit(fastmath=FAST, cache=True, nogil=True)
def interpolate_forward(grid: Any, shape: Any, strides: Any, x: Any, out: Any) -> None:
    """d-linear interpolation of a scalar grid (flat) at x (n, d) → out (n,); pictures are written out."""
    rows, dims = x.shape
    if dims == 2:
        for i in range(rows):
            a, b, u = _beside(x[i, 0], shape[0] - 1, strides[0])
            c, d, v = _beside(x[i, 1], shape[1] - 1, strides[1])
            upper = grid[a + c] * (f4(1) - v) + grid[a + d] * v
            lower = grid[b + c] * (f4(1) - v) + grid[b + d] * v
            out[i] = upper * (f4(1) - u) + lower * u
        return
    for i in range(rows):
        total = f4(0)
        for corner in range(1 << dims):
            index, share = _corner(x, i, shape, strides, corner)
            total += share * grid[index]
        out[i] = total


@njit(fastmath=FAST, cache=True, nogil=True)
def interpolate_backward(grad: Any, shape: Any, strides: Any, x: Any, out: Any) -> None:
    """out += the transpose of the interpolation."""
    rows, dims = x.shape
    if dims == 2:
        for i in range(rows):
            a, b, u = _beside(x[i, 0], shape[0] - 1, strides[0])
            c, d, v = _beside(x[i, 1], shape[1] - 1, strides[1])
            upper, lower = grad[i] * (f4(1) - u), grad[i] * u
            out[a + c] += upper * (f4(1) - v)
            out[a + d] += upper * v
            out[b + c] += lower * (f4(1) - v)
            out[b + d] += lower * v
        return
    for i in range(rows):
        for corner in range(1 << dims):
            index, share = _corner(x, i, shape, strides, corner)
            out[index] += share * grad[i]
