"""Matrix products that can be called from compiled kernels, so that activations run while a block is in cache.

A library's GEMM is a call of its own: its output has left the first cache before the activation reads it, and for
narrow matrices it is slow (`ops.matmul`). Here c (m, n) ← a (m, k) b (k, n) is made of tiles of `TILE_ROWS` rows by
two vectors, whose sums stay in registers: one loop over k, two vectors of b and one number of a at a time. No Python
loop keeps the sums in registers, so the tile is written with `llvm`. With b packed into panels it is as fast as MKL at
any width and faster for narrow factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

from alfilter.kernels.jit import kernel
from alfilter.kernels.llvm import I64, LANES, NO_RESULT, SHAPE, VECTOR, VectorBuilder, constant, intrinsic

PANEL = 2 * LANES  # columns of a panel and of a tile
TILE_ROWS = SHAPE.rows
_ROWS = 96  # of a that stay in cache while all panels of b are used


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
    """c (rows, LANES·vectors) = [c +] Σ_k a[:, k] b[k, :].

    a, b, c: addresses. a_row, a_step: numbers from one row of a and from one k to the next; b_step, c_row alike.
    columns: how many columns of a one-vector tile exist; a literal of `LANES` or more says all do.
    """
    height, width = rows.literal_value, vectors.literal_value
    whole = width > 1 or (isinstance(columns, types.IntegerLiteral) and columns.literal_value >= LANES)
    cells = [(r, v) for r in range(height) for v in range(width)]

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        a, a_row, a_step, b, b_step, c, c_row, count, columns, add = arguments[2:]
        vectors = VectorBuilder(build)
        mask = None if whole else vectors.mask(columns)
        a_row, a_step, b_step, c_row = (build.mul(step, I64(4)) for step in (a_row, a_step, b_step, c_row))
        carried = {f"{r} {v}": (VECTOR, constant(0.0)) for r, v in cells}
        with vectors.loop(count, 1, a=(I64, a), b=(I64, b), **carried) as state:
            across = [vectors.load(build.add(state["b"], I64(4 * LANES * v)), mask) for v in range(width)]
            for r in range(height):
                number = vectors.broadcast(vectors.load_scalar(build.add(state["a"], build.mul(a_row, I64(r)))))
                for v in range(width):
                    state[f"{r} {v}"] = vectors.fma(number, across[v], state[f"{r} {v}"])
            state["a"], state["b"] = build.add(state["a"], a_step), build.add(state["b"], b_step)
        places = [build.add(c, build.add(build.mul(c_row, I64(r)), I64(4 * LANES * v))) for r, v in cells]
        sums = [(state[f"{r} {v}"], place) for (r, v), place in zip(cells, places, strict=True)]
        with build.if_else(build.icmp_signed("!=", add, I64(0))) as (accumulate, overwrite):
            with accumulate:
                for total, place in sums:
                    vectors.store(build.fadd(total, vectors.load(place, mask)), place, mask)
            with overwrite:
                for total, place in sums:
                    vectors.store(total, place, mask)
        return NO_RESULT

    numbers = [types.int64] * 8
    return types.void(rows, vectors, *numbers, columns if whole and width == 1 else types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_block(context: Any, a: Any, a_row: Any, c: Any, c_row: Any, rows: Any, columns: Any) -> Any:
    """c (rows, columns) = the first columns of a; at least one row and one column."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        a, a_row, c, c_row, rows, columns = arguments
        with VectorBuilder(build).loop(rows, 1, a=(I64, a), c=(I64, c)) as row:
            with VectorBuilder(build).loop(columns, 1) as column:
                offset = build.mul(column["k"], I64(4))
                number = VectorBuilder(build).load_scalar(build.add(row["a"], offset))
                VectorBuilder(build).store_scalar(number, build.add(row["c"], offset))
            row["a"] = build.add(row["a"], build.mul(a_row, I64(4)))
            row["c"] = build.add(row["c"], build.mul(c_row, I64(4)))
        return NO_RESULT

    return types.void(*[types.int64] * 6), generate


@njit(nogil=True)
def _panel(
    m: int, a: int, a_row: int, a_step: int, b: int, b_step: int, c: int, c_row: int, k: int, columns: int, add: int
) -> None:
    """Up to `PANEL` columns of c, all m rows."""
    i = 0
    if columns >= PANEL:
        while i + TILE_ROWS <= m:
            _tile(TILE_ROWS, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += TILE_ROWS
        while i + 4 <= m:
            _tile(4, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += 4
        while i < m:
            _tile(1, 2, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
            i += 1
        return
    while i + 6 <= m:
        _tile(6, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        i += 6
    while i + 2 <= m:
        _tile(2, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)
        i += 2
    if i < m:
        _tile(1, 1, a + 4 * i * a_row, a_row, a_step, b, b_step, c + 4 * i * c_row, c_row, k, columns, add)


@njit(nogil=True)
def gemm(a: Any, b: Any, c: Any, add: bool) -> None:
    """c (m, n) ← [c +] a (m, k) b (k, n). a may have any strides, rows of b and c are contiguous."""
    m, k = a.shape
    n = b.shape[1]
    j = 0
    while j < n and k > 0:
        _panel(
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
        j += PANEL if n - j >= PANEL else LANES


@intrinsic  # type: ignore[untyped-decorator]
def _pack_panel(context: Any, b: Any, row: Any, column: Any, rows: Any, columns: Any, out: Any) -> Any:
    """One panel: out (rows, PANEL) = b (rows, columns), padded with zeros; row, column: strides of b in bytes."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        b, row, column, rows, columns, out = arguments
        vectors = VectorBuilder(build)

        def whole() -> None:
            with vectors.loop(rows, 1, b=(I64, b), out=(I64, out)) as state:
                for c in range(PANEL):
                    number = vectors.load_scalar(build.add(state["b"], build.mul(column, I64(c))))
                    vectors.store_scalar(number, build.add(state["out"], I64(4 * c)))
                state["b"], state["out"] = build.add(state["b"], row), build.add(state["out"], I64(4 * PANEL))

        def edge() -> None:
            with vectors.loop(rows, 1, b=(I64, b), out=(I64, out)) as state:
                for half in range(2):
                    vectors.store(constant(0.0), build.add(state["out"], I64(4 * LANES * half)))
                with vectors.loop(columns, 1, at=(I64, state["b"])) as inner:
                    vectors.store_scalar(
                        vectors.load_scalar(inner["at"]), build.add(state["out"], build.mul(inner["k"], I64(4)))
                    )
                    inner["at"] = build.add(inner["at"], column)
                state["b"], state["out"] = build.add(state["b"], row), build.add(state["out"], I64(4 * PANEL))

        with build.if_else(build.icmp_signed(">=", columns, I64(PANEL))) as (full, partial):
            with full:
                whole()
            with partial:
                edge()
        return NO_RESULT

    return types.void(*[types.int64] * 6), generate


@njit(nogil=True)
def pack_panels(b: Any, out: Any) -> None:
    """b (k, n), of any strides, packed into panels: out (⌈n/PANEL⌉, k, PANEL), padded with zeros."""
    k, n = b.shape
    for j in range(out.shape[0]):
        first = b.ctypes.data + PANEL * j * b.strides[1]
        _pack_panel(first, b.strides[0], b.strides[1], k, n - PANEL * j, out.ctypes.data + 4 * PANEL * j * k)


@njit(nogil=True)
def pack_all_panels(weights: Any, transposed: bool) -> Any:
    """Every matrix of weights (L, o, i), or its transpose, packed into panels: (L, ⌈n/PANEL⌉, k, PANEL)."""
    count, outputs, inputs = weights.shape
    k, n = (inputs, outputs) if transposed else (outputs, inputs)
    panels = np.empty((count, (n + PANEL - 1) // PANEL, k, PANEL), np.float32)
    for l in range(count):
        pack_panels(weights[l].T if transposed else weights[l], panels[l])
    return panels


@njit(nogil=True)
def gemm_packed(a: Any, b: Any, c: Any) -> None:
    """c (m, n) ← a (m, k) b with b packed by `pack_panels`: a panel stays in the first cache, a wide b does not.

    Fastest if n is a multiple of `LANES`: columns of c beyond those of b become zeros.
    """
    m, k = a.shape
    n = c.shape[1]
    rows, steps, c_row = a.strides[0] // 4, a.strides[1] // 4, c.strides[0] // 4
    start, factor, out = a.ctypes.data, b.ctypes.data, c.ctypes.data
    j = 0
    while j + PANEL <= n:
        _panel(m, start, rows, steps, factor + 4 * j * k, PANEL, out + 4 * j, c_row, k, PANEL, 0)
        j += PANEL
    factor, out = factor + 4 * j * k, out + 4 * j
    if n - j >= LANES:
        i = 0
        while i + 8 <= m:  # with one vector per row, six rows are not enough independent sums
            _tile(8, 1, start + 4 * i * rows, rows, steps, factor, PANEL, out + 4 * i * c_row, c_row, k, LANES, 0)
            i += 8
        while i < m:
            _tile(1, 1, start + 4 * i * rows, rows, steps, factor, PANEL, out + 4 * i * c_row, c_row, k, LANES, 0)
            i += 1
        factor, out, j = factor + 4 * LANES, out + 4 * LANES, j + LANES
    if j < n:
        _panel(m, start, rows, steps, factor, PANEL, out, c_row, k, n - j, 0)


@njit(inline="always")
def whole_vectors(width: int) -> int:
    """The next multiple of a vector's numbers."""
    return (width + LANES - 1) // LANES * LANES


@kernel()
def matmul(a: Any, b: Any, out: Any) -> None:
    """out (m, n) ← a (m, k) b (k, n); a and b of any strides, rows of `out` contiguous."""
    panels = np.empty(((b.shape[1] + PANEL - 1) // PANEL, b.shape[0], PANEL), np.float32)
    pack_panels(b, panels)
    for first in range(0, len(a), _ROWS):
        gemm_packed(a[first : first + _ROWS], panels, out[first : first + _ROWS])
