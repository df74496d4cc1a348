"""Sine and cosine at once, of one number or of a row of them.

`sine_row` evaluates the two polynomials alternately. Numba's compiler puts one after the other, and the dependent sums
then take a third longer than the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite.ir import Constant
from numba import njit, types

from alfilter.kernels.jit import FAST, f4
from alfilter.kernels.llvm import INT_VECTOR, LANES, NO_RESULT, VECTOR, VectorBuilder, constant, intrinsic
from alfilter.kernels.rowwise import for_each_vector

ONE_OVER_PI = 0.31830988618379067
PI = (3.1415927410125732, -8.7422780003724857e-8)  # π in two parts, to twice single precision
# of u = r², r in [-π/2, π/2], from the highest power down: sin r / r and cos r
SINE = (-2.3889859e-08, 2.7525562e-06, -1.9840874e-04, 8.3333310e-03, -1.6666667e-01)
COSINE = (-2.605e-07, 2.47609e-05, -1.3888378e-03, 4.1666638e-02, -0.5, 1.0)

_PI, _ONE_OVER_PI = (f4(PI[0]), f4(PI[1])), f4(ONE_OVER_PI)
_S, _C = tuple(f4(number) for number in SINE), tuple(f4(number) for number in COSINE)


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


@intrinsic  # type: ignore[untyped-decorator]
def sine_row(context: Any, z: Any, bias: Any, omega: Any, slope: Any, count: Any) -> Any:
    """z ← sin(ω(z+b)), slope ← ω cos(ω(z+b)) for `count` numbers at the addresses z, bias and slope."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, bias, omega, slope, count = arguments
        vectors = VectorBuilder(build)
        rate = vectors.broadcast(omega)

        def column_block(offset: Any, mask: Any) -> None:
            z_at, bias_at, slope_at = (build.add(address, offset) for address in (z, bias, slope))
            angle = build.fmul(rate, build.fadd(vectors.load(z_at, mask), vectors.load(bias_at, mask)))
            s, c = sine_and_cosine(vectors, angle)
            vectors.store(s, z_at, mask)
            vectors.store(build.fmul(rate, c), slope_at, mask)

        for_each_vector(vectors, count, column_block)
        return NO_RESULT

    return types.void(types.int64, types.int64, types.float32, types.int64, types.int64), generate


def sine_and_cosine(vectors: VectorBuilder, angle: Any) -> tuple[Any, Any]:
    """Sine and cosine of a vector, by the arithmetic of `sincos`."""
    build = vectors.build
    turns = vectors.round(build.fmul(angle, _single(ONE_OVER_PI)))
    r = vectors.fma(turns, _single(-PI[0]), angle)
    r = vectors.fma(turns, _single(-PI[1]), r)
    u = build.fmul(r, r)
    s, c = _single(SINE[0]), _single(COSINE[0])
    for sine, cosine in zip(SINE[1:], COSINE[1:], strict=False):
        s, c = vectors.fma(s, u, _single(sine)), vectors.fma(c, u, _single(cosine))
    s, c = vectors.fma(build.fmul(s, u), r, r), vectors.fma(c, u, _single(COSINE[-1]))
    odd = build.shl(
        build.fptosi(turns, INT_VECTOR), Constant(INT_VECTOR, [31] * LANES)
    )  # half turns change the sign bit
    signed = [build.bitcast(build.xor(build.bitcast(part, INT_VECTOR), odd), VECTOR) for part in (s, c)]
    return signed[0], signed[1]


def _single(number: float) -> Any:
    return constant(float(np.float32(number)))
