"""CPU kernels of feature grids over one to four coordinates: corners, rows and weighted sums in one pass.

The plain version is `core.hash_grid.lookup`. Level by level, so that the rows in use stay in cache; within a level in
blocks of points, whose corners are computed by vector arithmetic before any row is read. A corner without weight,
because the point lies on a node, is replaced by that node, so that a table with a row per sample is read at one row.
Each call runs on one thread and releases the GIL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types

from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.llvm import FLOAT, I32, I64, NO_RESULT, VectorBuilder, intrinsic

BLOCK = 256  # points whose corners are computed at once
_WIDTHS = (1, 2, 4, 8)  # numbers of a row read at once


class Levels(NamedTuple):
    """A `core.hash_grid.Layout` as the kernels read it.

    cells: (L, d) int32, along each axis. factors: (L, d) int32, what a node's index along an axis is multiplied with,
    its stride in a dense level or its prime in a hashed one. first, mask: (L,) int32, a level's first row, and the
    mask of its hash or 0. nodes: int32, the row of every node, below zero where it has none; None: its own, and nothing
    is compiled for it.
    """

    cells: Any
    factors: Any
    first: Any
    mask: Any
    nodes: Any
    snap: Any


class Corners(NamedTuple):
    """Buffers for the corners of a block on a level: row and share (2^d, BLOCK); low, step, part (BLOCK,)."""

    row: Any
    share: Any
    low: Any
    step: Any
    part: Any


@njit(nogil=True)
def corner_buffers(dims: int) -> Corners:
    """Memory for `corners`."""
    count = 1 << dims
    rows, shares = np.empty((count, BLOCK), np.int32), np.empty((count, BLOCK), f4)
    return Corners(rows, shares, np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32), np.empty(BLOCK, f4))


@njit(fastmath=FAST, nogil=True)
def _axis(values: Any, last: Any, snap: Any, low: Any, step: Any, part: Any) -> None:
    """Along one axis of `last` cells: the lower node, how far the upper one is from it (0 or 1), the place between."""
    half = f4(last) * f4(0.5)
    top = np.int32(max(last - 1, 0))
    for i in range(len(values)):
        p = (min(max(values[i], f4(-1)), f4(1)) + f4(1)) * half
        nearest = np.rint(p)
        p = nearest if abs(p - nearest) <= snap else p
        inside = p if p >= f4(0) else f4(0)  # NaN has a node, and stays in the weight
        low[i] = min(np.int32(inside), top)
        part[i] = p - f4(low[i])
        step[i] = np.int32(1) if part[i] > f4(0) else np.int32(0)  # never beyond the last node, where part is 0


@njit(fastmath=FAST, nogil=True)
def corners(x: Any, begin: int, count: int, levels: Levels, level: int, buffers: Corners) -> None:
    """Rows and weights of the 2^d corners of points on a level; corner c is on the far side of axis k if bit k is set.

    x: d arrays (n,). Built by doubling: one axis after the other.
    """
    row, share, low, step, part = buffers
    mask, dims = levels.mask[level], len(x)
    for k in range(dims):
        factor, far = levels.factors[level, k], 1 << k
        _axis(x[k][begin : begin + count], levels.cells[level, k], levels.snap, low, step, part)
        if k == 0:
            for i in range(count):
                row[0, i], row[1, i] = low[i] * factor, (low[i] + step[i]) * factor
                share[0, i], share[1, i] = f4(1) - part[i], part[i]
            continue
        for c in range(far):
            if mask == 0:
                for i in range(count):
                    near = row[c, i] + low[i] * factor
                    row[c, i], row[c + far, i] = near, near + step[i] * factor
            else:
                for i in range(count):
                    near = row[c, i]
                    row[c, i], row[c + far, i] = near ^ (low[i] * factor), near ^ ((low[i] + step[i]) * factor)
            for i in range(count):
                whole = share[c, i]
                share[c + far, i] = whole * part[i]
                share[c, i] = whole * (f4(1) - part[i])
    first, inside = levels.first[level], mask if mask != 0 else np.int32(-1)
    for c in range(1 << dims):
        for i in range(count):
            row[c, i] = first + (row[c, i] & inside)
    _existing(levels.nodes, count, row, share)


@njit(nogil=True)
def _existing(nodes: Any, count: int, row: Any, share: Any) -> None:
    """Rows of the nodes that exist, and no weight for the others."""
    if nodes is not None:
        for c in range(len(row)):
            for i in range(count):
                node = nodes[row[c, i]]
                row[c, i] = max(node, np.int32(0))
                share[c, i] = share[c, i] if node >= 0 else f4(0)


@intrinsic  # type: ignore[untyped-decorator]
def _gather(
    context: Any, x: Any, width: Any, row: Any, share: Any, count: Any, table: Any, size: Any, out: Any, step: Any
) -> Any:
    """out_i (width,) = Σ_c share[c, i] table[row[c, i]] for i = 0 … count-1, at least one.

    x: the points, whose type says how many corners there are. width: 1, 2, 4 or 8. row, share, table, out: addresses;
    size, step: bytes from one row of the table and of out to the next.
    """

    def body(build: Any, vector: Any, corner_places: list[tuple[Any, Any]], own: Any) -> None:
        total = ir.Constant(vector, [0.0] * vector.count)
        for weight, place in corner_places:
            total = _fma(build, weight, build.load(place, align=4), total)
        build.store(total, own, align=4)

    return _points_signature(x), lambda _, build, __, arguments: _for_points(build, x.count, arguments[1:], body)


@intrinsic  # type: ignore[untyped-decorator]
def _scatter(
    context: Any, x: Any, width: Any, row: Any, share: Any, count: Any, table: Any, size: Any, grad: Any, step: Any
) -> Any:
    """table[row[c, i]] += share[c, i] grad_i (width,), point by point and corner by corner; as in `_gather`."""

    def body(build: Any, vector: Any, corner_places: list[tuple[Any, Any]], own: Any) -> None:
        value = build.load(own, align=4)
        for weight, place in corner_places:  # in order: two corners may have one row
            build.store(_fma(build, weight, value, build.load(place, align=4)), place, align=4)

    return _points_signature(x), lambda _, build, __, arguments: _for_points(build, x.count, arguments[1:], body)


def _points_signature(x: Any) -> Any:
    return types.void(x, *[types.int64] * 8)


def _for_points(
    build: Any, dims: int, arguments: Any, body: Callable[[Any, Any, list[tuple[Any, Any]], Any], None]
) -> Any:
    """`body` for every point: weight and place of its corners, and its own place; a loop for each width."""
    width, row, share, count, table, size, own, step = arguments
    for each in _WIDTHS:
        vector = ir.VectorType(FLOAT, each)
        is_width = build.icmp_signed("==", width, I64(each))
        with build.if_then(is_width), VectorBuilder(build).loop(count, 1, own=(I64, own)) as state:
            offsets = [build.mul(build.add(state["k"], I64(c * BLOCK)), I64(4)) for c in range(1 << dims)]
            places = []
            for offset in offsets:
                number = build.load(build.inttoptr(build.add(row, offset), I32.as_pointer()), align=4)
                place = build.add(table, build.mul(build.zext(number, I64), size))
                weight = _broadcast(build, vector, VectorBuilder(build).load_scalar(build.add(share, offset)))
                places.append((weight, build.inttoptr(place, vector.as_pointer())))
            body(build, vector, places, build.inttoptr(state["own"], vector.as_pointer()))
            state["own"] = build.add(state["own"], step)
    return NO_RESULT


def _broadcast(build: Any, vector: Any, number: Any) -> Any:
    one = build.insert_element(ir.Constant(vector, ir.Undefined), number, I32(0))
    return build.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, vector.count), [0] * vector.count))


def _fma(build: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the processor can."""
    name = f"llvm.fmuladd.v{a.type.count}f32"
    function = build.module.globals.get(name) or ir.Function(build.module, ir.FunctionType(a.type, [a.type] * 3), name)
    return build.call(function, [a, b, c])


@njit(inline="always")
def _width(features: int) -> int:
    """The widest vector that fits into as many numbers."""
    return 8 if features >= 8 else 4 if features >= 4 else 2 if features >= 2 else 1


@njit(nogil=True)
def gather(x: Any, buffers: Corners, count: int, table: Any, out: Any, column: int) -> None:
    """out[:count, column …] = Σ_c share_c table (R, F) [row_c] of points like x; numbers of a row side by side."""
    features, f = table.shape[1], 0
    row, share = buffers.row.ctypes.data, buffers.share.ctypes.data
    while f < features:
        width = _width(features - f)
        place, own = table.ctypes.data + 4 * f, out.ctypes.data + 4 * (column + f)
        _gather(x, width, row, share, count, place, 4 * features, own, out.strides[0])
        f += width


@njit(nogil=True)
def scatter(x: Any, buffers: Corners, count: int, grad: Any, column: int, table: Any) -> None:
    """table (R, F) [row_c] += share_c grad[:count, column …]; numbers of a row side by side."""
    features, f = table.shape[1], 0
    row, share = buffers.row.ctypes.data, buffers.share.ctypes.data
    while f < features:
        width = _width(features - f)
        place, own = table.ctypes.data + 4 * f, grad.ctypes.data + 4 * (column + f)
        _scatter(x, width, row, share, count, place, 4 * features, own, grad.strides[0])
        f += width


@njit(fastmath=FAST, nogil=True)
def _weaken(buffers: Corners, count: int, response: Any) -> None:
    """Corner weights times the filter's response at their point, which filters values and gradients alike."""
    for c in range(len(buffers.share)):
        share = buffers.share[c]
        for i in range(count):
            share[i] *= response[i]


@njit(fastmath=FAST, nogil=True)
def read_levels(
    x: Any, first: int, levels: Levels, response: Any, table: Any, skip: int, out: Any, buffers: Corners
) -> None:
    """out (m, s + L F …): from column s on, the features of the points first … first+m-1 of x, d arrays (n,).

    response: (L, m), the factor of each level at each point; with no rows, one.
    """
    for level in range(len(levels.first)):
        for begin in range(0, len(out), BLOCK):
            count = min(BLOCK, len(out) - begin)
            corners(x, first + begin, count, levels, level, buffers)
            if len(response) > 0:
                _weaken(buffers, count, response[level, begin:])
            gather(x, buffers, count, table, out[begin : begin + count], skip + level * table.shape[1])


@njit(fastmath=FAST, nogil=True)
def add_levels(
    x: Any, first: int, levels: Levels, response: Any, grad: Any, skip: int, table: Any, buffers: Corners
) -> None:
    """table (R, F) += the transpose of `read_levels` on grad (m, s + L F …)."""
    for level in range(len(levels.first)):
        for begin in range(0, len(grad), BLOCK):
            count = min(BLOCK, len(grad) - begin)
            corners(x, first + begin, count, levels, level, buffers)
            if len(response) > 0:
                _weaken(buffers, count, response[level, begin:])
            scatter(x, buffers, count, grad[begin : begin + count], skip + level * table.shape[1], table)


@njit(fastmath=FAST, nogil=True)
def read_numbers(x: Any, first: int, grid: Levels, values: Any, out: Any, buffers: Corners) -> None:
    """`read_levels` of one level with one number for a node, (nodes,): out (m,). Far less to compile."""
    for begin in range(0, len(out), BLOCK):
        count = min(BLOCK, len(out) - begin)
        corners(x, first + begin, count, grid, 0, buffers)
        own = out[begin : begin + count]
        for i in range(count):
            own[i] = f4(0)
        for c in range(len(buffers.row)):
            row, share = buffers.row[c], buffers.share[c]
            for i in range(count):
                own[i] += share[i] * values[row[i]]


@njit(fastmath=FAST, nogil=True)
def add_numbers(x: Any, first: int, grid: Levels, grad: Any, values: Any, buffers: Corners) -> None:
    """values (nodes,) += the transpose of `read_numbers` on grad (m,)."""
    for begin in range(0, len(grad), BLOCK):
        count = min(BLOCK, len(grad) - begin)
        corners(x, first + begin, count, grid, 0, buffers)
        for i in range(count):
            for c in range(len(buffers.row)):
                values[buffers.row[c, i]] += buffers.share[c, i] * grad[begin + i]


@kernel(fastmath=FAST)
def lookup_forward(x: Any, levels: Levels, response: Any, table: Any, skip: int, out: Any) -> None:
    """out (n, s + L F), from column s on = Σ_c w_c table (R, F) [row_c] of x, d arrays (n,), level by level.

    response: (L, n), the factor of each level at each point; with no rows, one.
    """
    read_levels(x, 0, levels, response, table, skip, out, corner_buffers(len(x)))


@kernel(fastmath=FAST)
def lookup_backward(x: Any, levels: Levels, response: Any, grad: Any, skip: int, table: Any) -> None:
    """table (R, F) += the transpose of `lookup_forward` on grad (n, s + L F)."""
    add_levels(x, 0, levels, response, grad, skip, table, corner_buffers(len(x)))
