"""Sine and cosine of a row of numbers in one pass: what `kernels.sincos` is for one, in an order without waiting.

The two polynomials are evaluated in turns. Numba's compiler puts one after the other, and the chain of dependent sums
then takes a third longer than the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite.ir import Constant
from numba import types

from alfilter.kernels.llvm import LANES, NOTHING, VECTOR, WHOLE, Writer, constant, intrinsic
from alfilter.kernels.rowwise import by_eights

ONE_OVER_PI = 0.31830988618379067
PI = (3.1415927410125732, -8.7422780003724857e-8)  # π to twice the precision of one number
# of u = r², r in [-π/2, π/2], from the highest power down: sin r / r and cos r
SINE = (-2.3889859e-08, 2.7525562e-06, -1.9840874e-04, 8.3333310e-03, -1.6666667e-01)
COSINE = (-2.605e-07, 2.47609e-05, -1.3888378e-03, 4.1666638e-02, -0.5, 1.0)


@intrinsic  # type: ignore[untyped-decorator]
def sine_row(context: Any, z: Any, bias: Any, omega: Any, slope: Any, count: Any) -> Any:
    """z ← sin(ω(z+b)), slope ← ω cos(ω(z+b)) for `count` numbers at the addresses z, bias and slope."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, bias, omega, slope, count = arguments
        writer = Writer(build)
        rate = writer.spread(omega)

        def eight(offset: Any, mask: Any) -> None:
            at, beside, other = (build.add(place, offset) for place in (z, bias, slope))
            angle = build.fmul(rate, build.fadd(writer.load(at, mask), writer.load(beside, mask)))
            s, c = sine_and_cosine(writer, angle)
            writer.store(s, at, mask)
            writer.store(build.fmul(rate, c), other, mask)

        by_eights(writer, count, eight)
        return NOTHING

    return types.void(types.int64, types.int64, types.float32, types.int64, types.int64), generate


def sine_and_cosine(writer: Writer, angle: Any) -> tuple[Any, Any]:
    """Both of a vector: reduce by π in two parts, polynomials on [-π/2, π/2], a common sign. Good to 2e-7."""
    build = writer.build
    turns = writer.nearest(build.fmul(angle, _single(ONE_OVER_PI)))
    r = writer.fused(turns, _single(-PI[0]), angle)
    r = writer.fused(turns, _single(-PI[1]), r)
    u = build.fmul(r, r)
    s, c = _single(SINE[0]), _single(COSINE[0])
    for sine, cosine in zip(SINE[1:], COSINE[1:], strict=False):
        s, c = writer.fused(s, u, _single(sine)), writer.fused(c, u, _single(cosine))
    s, c = writer.fused(build.fmul(s, u), r, r), writer.fused(c, u, _single(COSINE[-1]))
    odd = build.shl(build.fptosi(turns, WHOLE), Constant(WHOLE, [31] * LANES))  # half turns change the sign bit
    signed = [build.bitcast(build.xor(build.bitcast(part, WHOLE), odd), VECTOR) for part in (s, c)]
    return signed[0], signed[1]


def _single(number: float) -> Any:
    return constant(float(np.float32(number)))
