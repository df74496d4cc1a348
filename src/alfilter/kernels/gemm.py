"""Matrix products that can be called from within compiled kernels, so that a layer's passes run while its block is hot.

A library's product is a call of its own: what it makes has left the first cache before the activation reads it, and by
a few columns it is slow (`multiply`). Here c (m, n) ← a (m, k) b (k, n) is made of tiles of six rows by two vectors of
eight columns: twelve sums in registers, one loop over k, two vectors of b and one number of a at a time. No loop in
Python keeps the sums there, so the tile is written by `instructions`. With b in strips it is as quick as MKL at any
width and quicker for narrow factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

from alfilter.kernels.llvm import I64, LANES, NOTHING, VECTOR, Writer, constant, intrinsic

STRIP = 2 * LANES  # columns of a tile
_ROWS = 96  # that stay in cache while all strips pass


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _tile(
    context: Any,
    rows: Any,
    vectors: Any,
    a: Any,
    a_row: Any,
    a_step: Any,
    b: Any,
    b_step: Any,
    c: Any,
    c_row: Any,
    count: Any,
    columns: Any,
    add: Any,
) -> Any:
    """c (rows, 8·vectors) = [c +] Σ_k a[:, k] b[k, :].

    a, b, c: addresses. a_row, a_step: numbers from one row of a and from one k to the next; b_step, c_row alike.
    columns: how many of a tile of one vector exist; where a known number says eight or more, all do.
    """
    height, width = rows.literal_value, vectors.literal_value
    whole = width > 1 or (isinstance(columns, types.IntegerLiteral) and columns.literal_value >= LANES)
    cells = [(r, v) for r in range(height) for v in range(width)]

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        a, a_row, a_step, b, b_step, c, c_row, count, columns, add = arguments[2:]
        writer = Writer(build)
        mask = None if whole else writer.mask(columns)
        a_row, a_step, b_step, c_row = (build.mul(step, I64(4)) for step in (a_row, a_step, b_step, c_row))
        carried = {f"{r} {v}": (VECTOR, constant(0.0)) for r, v in cells}
        with writer.loop(count, 1, a=(I64, a), b=(I64, b), **carried) as state:
            across = [writer.load(build.add(state["b"], I64(4 * LANES * v)), mask) for v in range(width)]
            for r in range(height):
                number = writer.spread(writer.number(build.add(state["a"], build.mul(a_row, I64(r)))))
                for v in range(width):
                    state[f"{r} {v}"] = writer.fused(number, across[v], state[f"{r} {v}"])
            state["a"], state["b"] = build.add(state["a"], a_step), build.add(state["b"], b_step)
        places = [build.add(c, build.add(build.mul(c_row, I64(r)), I64(4 * LANES * v))) for r, v in cells]
        found = [(state[f"{r} {v}"], place) for (r, v), place in zip(cells, places, strict=True)]
        with build.if_else(build.icmp_signed("!=", add, I64(0))) as (more, alone):
            with more:
                for total, place in found:
                    writer.store(build.fadd(total, writer.load(place, mask)), place, mask)
            with alone:
                for total, place in found:
                    writer.store(total, place, mask)
        return NOTHING

    given = [types.int64] * 8
    return types.void(rows, vectors, *given, columns if whole and width == 1 else types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def take(context: Any, a: Any, a_row: Any, c: Any, c_row: Any, rows: Any, columns: Any) -> Any:
    """c (rows, columns) = the first columns of a; all of them at least one."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        a, a_row, c, c_row, rows, columns = arguments
        with Writer(build).loop(rows, 1, a=(I64, a), c=(I64, c)) as row:
            with Writer(build).loop(columns, 1) as column:
                offset = build.mul(column["k"], I64(4))
                number = Writer(build).number(build.add(row["a"], offset))
                Writer(build).put(number, build.add(row["c"], offset))
            row["a"] = build.add(row["a"], build.mul(a_row, I64(4)))
            row["c"] = build.add(row["c"], build.mul(c_row, I64(4)))
        return NOTHING

    return types.void(*[types.int64] * 6), generate


@njit(nogil=True)
def _strip(
    m: int, a: int, a_row: int, a_step: int, b: int, b_step: int, c: int, c_row: int, k: int, columns: int, add: int
) -> None:
    """A strip of up to `STRIP` columns of c, all m rows of it."""
    i = 0
    if columns >= STRIP:
        while i + 6 <= m:
            _tile(6, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += 6
        if i + 4 <= m:
            _tile(4, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += 4
        if i + 2 <= m:
            _tile(2, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += 2
        if i < m:
            _tile(1, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        return
    while i + 6 <= m:
        _tile(6, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        i += 6
    if i + 4 <= m:
        _tile(4, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        i += 4
    if i + 2 <= m:
        _tile(2, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        i += 2
    if i < m:
        _tile(1, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)


@njit(nogil=True)
def times(a: Any, b: Any, c: Any, add: bool) -> None:
    """c (m, n) ← [c +] a (m, k) b (k, n). a may be stored in any way, rows of b and c in one piece each."""
    m, k = a.shape
    n = b.shape[1]
    j = 0
    while j < n and k > 0:
        _strip(
            m,
            a.ctypes.data,
            a.strides[0] // 4,
            a.strides[1] // 4,
            b.ctypes.data + 4 * j,
            b.strides[0] // 4,
            c.ctypes.data + 4 * j,
            c.strides[0] // 4,
            k,
            n - j,
            1 if add else 0,
        )
        j += STRIP if n - j >= STRIP else 8


@intrinsic  # type: ignore[untyped-decorator]
def _pack(context: Any, b: Any, row: Any, column: Any, rows: Any, columns: Any, out: Any) -> Any:
    """One strip: out (rows, 16) = b (rows, columns), zeros beyond; row, column: bytes from one to the next in b."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        b, row, column, rows, columns, out = arguments
        writer = Writer(build)

        def whole() -> None:
            with writer.loop(rows, 1, b=(I64, b), out=(I64, out)) as state:
                for c in range(STRIP):
                    number = writer.number(build.add(state["b"], build.mul(column, I64(c))))
                    writer.put(number, build.add(state["out"], I64(4 * c)))
                state["b"], state["out"] = build.add(state["b"], row), build.add(state["out"], I64(4 * STRIP))

        def edge() -> None:
            with writer.loop(rows, 1, b=(I64, b), out=(I64, out)) as state:
                for half in range(2):
                    writer.store(constant(0.0), build.add(state["out"], I64(4 * LANES * half)))
                with writer.loop(columns, 1, at=(I64, state["b"])) as inner:
                    writer.put(writer.number(inner["at"]), build.add(state["out"], build.mul(inner["k"], I64(4))))
                    inner["at"] = build.add(inner["at"], column)
                state["b"], state["out"] = build.add(state["b"], row), build.add(state["out"], I64(4 * STRIP))

        with build.if_else(build.icmp_signed(">=", columns, I64(STRIP))) as (full, partial):
            with full:
                whole()
            with partial:
                edge()
        return NOTHING

    return types.void(*[types.int64] * 6), generate


@njit(nogil=True)
def strips(b: Any, out: Any) -> None:
    """b (k, n), stored in any way, as strips: out (⌈n/16⌉, k, 16), zeros in the columns that are not there."""
    k, n = b.shape
    for j in range(out.shape[0]):
        first = b.ctypes.data + STRIP * j * b.strides[1]
        _pack(first, b.strides[0], b.strides[1], k, n - STRIP * j, out.ctypes.data + 4 * STRIP * j * k)


@njit(nogil=True)
def all_strips(weights: Any, turned: bool) -> Any:
    """Every matrix of weights (L, o, i), or its transpose, as strips: (L, ⌈n/16⌉, k, 16)."""
    count, outputs, inputs = weights.shape
    k, n = (inputs, outputs) if turned else (outputs, inputs)
    made = np.empty((count, (n + STRIP - 1) // STRIP, k, STRIP), np.float32)
    for l in range(count):
        strips(weights[l].T if turned else weights[l], made[l])
    return made


@njit(nogil=True)
def times_strips(a: Any, b: Any, c: Any) -> None:
    """c (m, n) ← a (m, k) b with b in `strips`, which stay in the first cache as the rows of a wide b do not.

    Quickest where n is a multiple of eight: where b has fewer columns, the rest become zeros.
    """
    m, k = a.shape
    n = c.shape[1]
    rows, steps, c_row = a.strides[0] // 4, a.strides[1] // 4, c.strides[0] // 4
    start, factor, out = a.ctypes.data, b.ctypes.data, c.ctypes.data
    j = 0
    while j + STRIP <= n:
        _strip(m, start, rows, steps, factor + 4 * j * k, STRIP, out + 4 * j, c_row, k, STRIP, 0)
        j += STRIP
    factor, out = factor + 4 * j * k, out + 4 * j
    if n - j >= 8:
        i = 0
        while i + 8 <= m:  # of one vector a row, six are not enough to keep a processor busy
            _tile(8, 1, start + 4 * i * rows, rows, steps, factor, STRIP, out + 4 * i * c_row, c_row, k, 8, 0)
            i += 8
        while i < m:
            _tile(1, 1, start + 4 * i * rows, rows, steps, factor, STRIP, out + 4 * i * c_row, c_row, k, 8, 0)
            i += 1
        factor, out, j = factor + 32, out + 32, j + 8
    if j < n:
        _strip(m, start, rows, steps, factor, STRIP, out, c_row, k, n - j, 0)


@njit(inline="always")
def eights(width: int) -> int:
    """The next multiple of eight."""
    return (width + 7) // 8 * 8


@njit(cache=True, nogil=True)
def product(a: Any, b: Any, out: Any) -> None:
    """out (m, n) ← a (m, k) b (k, n), each stored in any way with rows of `out` in one piece."""
    made = np.empty(((b.shape[1] + STRIP - 1) // STRIP, b.shape[0], STRIP), np.float32)
    strips(b, made)
    for first in range(0, len(a), _ROWS):
        times_strips(a[first : first + _ROWS], made, out[first : first + _ROWS])
