"""One-pass CPU kernels of feature grids over two coordinates: place, row and weighted sum together.

The plain twin is `lookup.plain_lookup`. Level by level, so that the rows in use stay in cache; within a level in blocks
of points, whose places are found by vector arithmetic before any row is touched. A corner that has no weight because
the point lies on a node is taken to be the node itself, so that a table with a row per sample is read at one place.
One thread each, without the interpreter's lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.elementwise import FAST, f4

_BLOCK = 256  # points whose places are kept at hand
_PRIME = np.int32(2654435761 - (1 << 32))  # of the second axis; the last bits of a product do not depend on the sign


@njit(inline="always", fastmath=FAST)
def _places(values: Any, count: int, last: Any, snap: Any, low: Any, step: Any, part: Any) -> None:
    """Along one axis of `last` cells: the lower node, how far the upper one is from it (0 or 1), the place between."""
    half = f4(last) * f4(0.5)
    top = np.int32(max(last - 1, 0))
    for i in range(count):
        p = (min(max(values[i], f4(-1)), f4(1)) + f4(1)) * half
        nearest = np.rint(p)
        p = nearest if abs(p - nearest) <= snap else p
        low[i] = min(np.int32(p), top)
        part[i] = p - f4(low[i])
        step[i] = np.int32(1) if part[i] > f4(0) else np.int32(0)  # never beyond the last node, where part is 0


@njit(inline="always", fastmath=FAST)
def _rows(a: Any, da: Any, b: Any, db: Any, count: int, width: Any, first: Any, mask: Any, row: Any) -> None:
    """row (4, block): where the four corners are kept; corner c is on the far side along axis k where bit k is set."""
    if mask == 0:
        for i in range(count):
            near = first + a[i] * width + b[i]
            row[0, i] = near
            row[1, i] = near + da[i] * width
            row[2, i] = near + db[i]
            row[3, i] = near + da[i] * width + db[i]
        return
    for i in range(count):
        near, far = b[i] * _PRIME, (b[i] + db[i]) * _PRIME
        row[0, i] = first + ((a[i] ^ near) & mask)
        row[1, i] = first + (((a[i] + da[i]) ^ near) & mask)
        row[2, i] = first + ((a[i] ^ far) & mask)
        row[3, i] = first + (((a[i] + da[i]) ^ far) & mask)


@njit(inline="always", fastmath=FAST)
def _shares(u: Any, v: Any, count: int, nodes: Any, row: Any, share: Any) -> None:
    """share (4, block): the corners' weights; `row` becomes nodes[row], where there is such a map."""
    for i in range(count):
        share[0, i] = (f4(1) - u[i]) * (f4(1) - v[i])
        share[1, i] = u[i] * (f4(1) - v[i])
        share[2, i] = (f4(1) - u[i]) * v[i]
        share[3, i] = u[i] * v[i]
    if len(nodes) > 0:
        for c in range(4):
            for i in range(count):
                row[c, i] = nodes[row[c, i]]


@njit(inline="always", fastmath=FAST)
def _corners(
    x: Any, begin: int, count: int, level: Any, nodes: Any, snap: Any, kept: Any, row: Any, share: Any
) -> None:
    """Rows and weights of the four corners of a block of points on one level."""
    low, step, part = kept
    for k in range(2):
        _places(x[k, begin : begin + count], count, level[k], snap, low[k], step[k], part[k])
    _rows(low[0], step[0], low[1], step[1], count, np.int32(level[1] + 1), level[2], level[3], row)
    _shares(part[0], part[1], count, nodes, row, share)


@njit(inline="always", fastmath=FAST)
def _gather(row: Any, share: Any, count: int, table: Any, out: Any, begin: int, column: int) -> None:
    """out[begin …, column …] = Σ_c share_c table[row_c]; rows of two and four numbers stay in registers."""
    features = table.shape[1]
    for i in range(count):
        a, b, c, d = f4(0), f4(0), f4(0), f4(0)
        if features == 2:
            for corner in range(4):
                if row[corner, i] >= 0:
                    a += share[corner, i] * table[row[corner, i], 0]
                    b += share[corner, i] * table[row[corner, i], 1]
            out[begin + i, column], out[begin + i, column + 1] = a, b
        elif features == 4:
            for corner in range(4):
                w, r = (share[corner, i], row[corner, i]) if row[corner, i] >= 0 else (f4(0), np.int32(0))
                a += w * table[r, 0]
                b += w * table[r, 1]
                c += w * table[r, 2]
                d += w * table[r, 3]
            out[begin + i, column], out[begin + i, column + 1] = a, b
            out[begin + i, column + 2], out[begin + i, column + 3] = c, d
        else:
            for f in range(features):
                a = f4(0)
                for corner in range(4):
                    if row[corner, i] >= 0:
                        a += share[corner, i] * table[row[corner, i], f]
                out[begin + i, column + f] = a


@njit(inline="always", fastmath=FAST)
def _scatter(row: Any, share: Any, count: int, grad: Any, begin: int, column: int, table: Any) -> None:
    """table[row_c] += share_c grad[begin …, column …], point by point and corner by corner."""
    features = table.shape[1]
    for i in range(count):
        g = grad[begin + i]
        if features == 2:
            a, b = g[column], g[column + 1]  # in registers: for all the compiler knows, the table may be the gradient
            for corner in range(4):
                r, w = row[corner, i], share[corner, i]
                if r >= 0:
                    table[r, 0] += w * a
                    table[r, 1] += w * b
        elif features == 4:
            a, b, c, d = g[column], g[column + 1], g[column + 2], g[column + 3]
            for corner in range(4):
                r, w = row[corner, i], share[corner, i]
                if r >= 0:
                    table[r, 0] += w * a
                    table[r, 1] += w * b
                    table[r, 2] += w * c
                    table[r, 3] += w * d
        else:
            for corner in range(4):
                r, w = row[corner, i], share[corner, i]
                if r >= 0:
                    for f in range(features):
                        table[r, f] += w * g[column + f]


@njit(fastmath=FAST, cache=True, nogil=True)
def lookup_forward(x: Any, layout: Any, nodes: Any, snap: Any, table: Any, out: Any) -> None:
    """out (n, s + L F), its last L F columns = Σ_c w_c table (R, F) [row_c], level by level; a row below 0 is none.

    x: (2, n). layout: (L, 4) of cells along both axes, first row, mask (0: a node is its row). nodes: the row of every
    node, or empty.
    """
    points, features = x.shape[1], table.shape[1]
    skip = out.shape[1] - len(layout) * features
    kept = np.empty((2, _BLOCK), np.int32), np.empty((2, _BLOCK), np.int32), np.empty((2, _BLOCK), f4)
    row, share = np.empty((4, _BLOCK), np.int32), np.empty((4, _BLOCK), f4)
    for level in range(len(layout)):
        for begin in range(0, points, _BLOCK):
            count = min(_BLOCK, points - begin)
            _corners(x, begin, count, layout[level], nodes, snap, kept, row, share)
            _gather(row, share, count, table, out, begin, skip + level * features)


@njit(fastmath=FAST, cache=True, nogil=True)
def lookup_backward(x: Any, layout: Any, nodes: Any, snap: Any, grad: Any, table: Any) -> None:
    """table (R, F) += the transpose of `lookup_forward` on grad (n, s + L F); the first s columns are passed over."""
    points, features = x.shape[1], table.shape[1]
    skip = grad.shape[1] - len(layout) * features
    kept = np.empty((2, _BLOCK), np.int32), np.empty((2, _BLOCK), np.int32), np.empty((2, _BLOCK), f4)
    row, share = np.empty((4, _BLOCK), np.int32), np.empty((4, _BLOCK), f4)
    for level in range(len(layout)):
        for begin in range(0, points, _BLOCK):
            count = min(_BLOCK, points - begin)
            _corners(x, begin, count, layout[level], nodes, snap, kept, row, share)
            _scatter(row, share, count, grad, begin, skip + level * features, table)
