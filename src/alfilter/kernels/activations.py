"""σ(z+b) and its slope in one pass over a layer, for every activation; the plain versions are `core.activations`.

Each forward kernel turns z into σ(z+b) in place and writes ∂σ/∂z to `slope`; `slope_backward` is the backward pass of
all but ReLU and the complex wavelet. Kernels that divide use numpy's rules for it: Python's check of every divisor for
zero is a branch that keeps the loop from being vectorised.
"""

from __future__ import annotations

from typing import Any

from alfilter.kernels.exp import exp
from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.sincos import sincos, sine_row


@kernel(fastmath=FAST)
def sine_forward(z: Any, bias: Any, omega: Any, slope: Any) -> None:
    """z ← sin(ω(z+b)) in place, slope = ω cos(ω(z+b)); both (n, w), in one piece like b."""
    rows, width = z.shape
    values, offsets, slopes = z.ctypes.data, bias.ctypes.data, slope.ctypes.data
    for i in range(rows):
        first = 4 * i * width
        sine_row(values + first, offsets, omega, slopes + first, width)


@kernel(fastmath=FAST)
def slope_backward(grad: Any, slope: Any, sums: Any) -> None:
    """grad ← grad ⊙ slope in place (n, w); sums (w,) += its column sums."""
    rows, width = grad.shape
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] * slope[i, j]
            grad[i, j] = g
            sums[j] += g


@kernel(fastmath=FAST)
def relu_forward(z: Any, bias: Any) -> None:
    """z ← max(z+b, 0) in place, NaN kept; (n, w)."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            v = z[i, j] + bias[j]
            z[i, j] = f4(0) if v < f4(0) else v


@kernel(fastmath=FAST)
def relu_backward(grad: Any, value: Any, sums: Any) -> None:
    """grad ← grad where value > 0, else 0, in place (n, w); sums (w,) += its column sums."""
    rows, width = grad.shape
    for i in range(rows):
        for j in range(width):
            g = grad[i, j] if value[i, j] > f4(0) else f4(0)
            grad[i, j] = g
            sums[j] += g


@kernel(fastmath=FAST)
def gauss_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """exp(-(s z)²) and -2 s² z exp(-(s z)²)."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            u = scale * (z[i, j] + bias[j])
            v = exp(-u * u)
            z[i, j] = v
            slope[i, j] = f4(-2) * scale * u * v


@kernel(fastmath=FAST)
def wavelet_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """cos(ωz) e and -(ω sin(ωz) + 2 s² z cos(ωz)) e with e = exp(-(s z)²)."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            a = z[i, j] + bias[j]
            u = scale * a
            e = exp(-u * u)
            s, c = sincos(omega * a)
            z[i, j] = c * e
            slope[i, j] = -(omega * s + f4(2) * scale * u * c) * e


@kernel(fastmath=FAST)
def complex_wavelet_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """exp(jωz - |sz|²) of z = (real parts | imaginary parts); slope = (-2s²a | -ω-2s²b), of its logarithm."""
    rows, width = z.shape
    half = width // 2
    square = scale * scale
    for i in range(rows):
        for j in range(half):
            a = z[i, j] + bias[j]
            b = z[i, half + j] + bias[half + j]
            e = exp(-omega * b - square * (a * a + b * b))
            s, c = sincos(omega * a)
            z[i, j] = e * c
            z[i, half + j] = e * s
            slope[i, j] = f4(-2) * square * a
            slope[i, half + j] = -omega - f4(2) * square * b


@kernel(fastmath=FAST)
def complex_wavelet_backward(grad: Any, value: Any, slope: Any, omega: Any, sums: Any) -> None:
    """grad ← its product with the wavelet's Jacobian, in place; sums (2w,) += its column sums."""
    rows, width = grad.shape
    half = width // 2
    for i in range(rows):
        for j in range(half):
            re, im = value[i, j], value[i, half + j]
            gr, gi = grad[i, j], grad[i, half + j]
            along = gr * re + gi * im
            a = slope[i, j] * along + omega * (gi * re - gr * im)
            b = slope[i, half + j] * along
            grad[i, j] = a
            grad[i, half + j] = b
            sums[j] += a
            sums[half + j] += b


@kernel(fastmath=FAST, error_model="numpy")
def sinc_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """sin(u)/u and ω(cos u - sin(u)/u)/u, u = ωz; their series near zero."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            u = omega * (z[i, j] + bias[j])
            q = u * u
            s, c = sincos(u)
            near = q < f4(1)
            d = f4(1) if near else u
            v = f4(1) - q * f4(1 / 6) * (f4(1) - q * f4(1 / 20) * (f4(1) - q * f4(1 / 42) * (f4(1) - q * f4(1 / 72))))
            t = u * f4(-1 / 3) * (f4(1) - q * f4(1 / 10) * (f4(1) - q * f4(1 / 28) * (f4(1) - q * f4(1 / 54))))
            r = f4(1) / d
            far = s * r
            z[i, j] = v if near else far
            slope[i, j] = omega * (t if near else (c - far) * r)


@kernel(fastmath=FAST, error_model="numpy")
def hosc_forward(z: Any, bias: Any, omega: Any, beta: Any, slope: Any) -> None:
    """tanh(β sin u) and (1 - tanh²) β ω cos u, u = ωz; tanh by e^(-2|a|)."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            s, c = sincos(omega * (z[i, j] + bias[j]))
            z[i, j] = s
            slope[i, j] = c
        for j in range(width):  # apart: one loop would need more registers than there are
            s, c = z[i, j], slope[i, j]
            e = exp(f4(-2) * beta * abs(s))
            r = f4(1) / (f4(1) + e)
            t = (f4(1) - e) * r
            z[i, j] = -t if s < f4(0) else t
            slope[i, j] = f4(4) * e * r * r * beta * omega * c


@kernel(fastmath=FAST)
def finer_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """sin(ω(|z|+1)z) and ω(|z|+1) cos(…), the scale held fixed."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            a = z[i, j] + bias[j]
            w = omega * (abs(a) + f4(1))
            s, c = sincos(w * a)
            z[i, j] = s
            slope[i, j] = w * c


@kernel(fastmath=FAST)
def finer_full_forward(z: Any, bias: Any, omega: Any, scale: Any, slope: Any) -> None:
    """sin(ω(|z|+1)z) and ω(2|z|+1) cos(…), the whole derivative."""
    rows, width = z.shape
    for i in range(rows):
        for j in range(width):
            a = z[i, j] + bias[j]
            s, c = sincos(omega * (abs(a) + f4(1)) * a)
            z[i, j] = s
            slope[i, j] = omega * (f4(2) * abs(a) + f4(1)) * c


FORWARD = {
    "gauss": gauss_forward,
    "wavelet": wavelet_forward,
    "complex-wavelet": complex_wavelet_forward,
    "sinc": sinc_forward,
    "hosc": hosc_forward,
    "finer": finer_forward,
    "finer-full": finer_full_forward,
}
