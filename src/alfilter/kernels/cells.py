"""Passes over the cells of a regular grid, of `geometry.cells`, which has the same in numpy, to the last bit.

Every kernel works on the planes begin … end-1 along the first axis, so that threads can share them. Cell (i, j, k) has
the corners (i, j, k) … (i+1, j+1, k+1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.jit import f4, kernel

_HALF = f4(0.5)


@kernel()
def upsample(values: Any, out: Any, begin: int, end: int) -> None:
    """out (2M-1, …) = values (M, …) with the means of neighbours between them, one axis after the other."""
    rows, width = values.shape[1], values.shape[2]
    row = np.empty(width, np.float32)
    for i in range(begin, end):
        low, high = values[i // 2], values[(i + 1) // 2]
        for j in range(2 * rows - 1):
            a, b, c, d = low[j // 2], high[j // 2], low[(j + 1) // 2], high[(j + 1) // 2]
            for k in range(width):
                row[k] = ((a[k] + b[k]) * _HALF + (c[k] + d[k]) * _HALF) * _HALF
            target = out[i, j]
            for k in range(width - 1):
                target[2 * k] = row[k]
                target[2 * k + 1] = (row[k] + row[k + 1]) * _HALF
            target[2 * width - 2] = row[width - 1]


@njit(inline="always")
def _both_signs(a: Any, b: Any, c: Any, d: Any, k: int) -> Any:
    """Whether the corners of cell k, between four rows of vertices, have both signs."""
    zero, n = f4(0), k + 1
    some = (a[k] < zero) | (b[k] < zero) | (c[k] < zero) | (d[k] < zero)
    some |= (a[n] < zero) | (b[n] < zero) | (c[n] < zero) | (d[n] < zero)
    every = (a[k] < zero) & (b[k] < zero) & (c[k] < zero) & (d[k] < zero)
    every &= (a[n] < zero) & (b[n] < zero) & (c[n] < zero) & (d[n] < zero)
    return some & (not every)


@kernel()
def crossed(values: Any, out: Any, begin: int, end: int) -> None:
    """Cells whose corners have both signs."""
    for i in range(begin, end):
        for j in range(values.shape[1] - 1):
            a, b, c, d = values[i, j], values[i, j + 1], values[i + 1, j], values[i + 1, j + 1]
            target = out[i, j]
            for k in range(len(target)):
                target[k] = _both_signs(a, b, c, d, k)


@kernel()
def unknown_corners(cells: Any, known: Any, out: Any, begin: int, end: int) -> None:
    """Vertices (M, …) of the marked cells (M-1, …) that are not known."""
    last = cells.shape
    width = last[2]
    for i in range(begin, end):
        for j in range(known.shape[1]):
            target = out[i, j]
            for k in range(width + 1):
                target[k] = False
            for ci in range(max(i - 1, 0), min(i + 1, last[0])):
                for cj in range(max(j - 1, 0), min(j + 1, last[1])):
                    marked = cells[ci, cj]
                    for k in range(width):
                        target[k] |= marked[k]
                    for k in range(width):
                        target[k + 1] |= marked[k]
            own = known[i, j]
            for k in range(width + 1):
                target[k] &= not own[k]


@kernel()
def slopes(values: Any, out: Any, begin: int, end: int) -> None:
    """|∇f| of every cell, from the mean differences along its edges, in units of f per side."""
    for i in range(begin, end):
        for j in range(values.shape[1] - 1):
            a, b, c, d = values[i, j], values[i, j + 1], values[i + 1, j], values[i + 1, j + 1]
            target = out[i, j]
            for k in range(len(target)):
                x = (
                    ((c[k] - a[k]) + (d[k] - b[k])) * _HALF + ((c[k + 1] - a[k + 1]) + (d[k + 1] - b[k + 1])) * _HALF
                ) * _HALF
                y = (
                    ((b[k] - a[k]) + (d[k] - c[k])) * _HALF + ((b[k + 1] - a[k + 1]) + (d[k + 1] - c[k + 1])) * _HALF
                ) * _HALF
                z = (
                    ((a[k + 1] - a[k]) + (c[k + 1] - c[k])) * _HALF + ((b[k + 1] - b[k]) + (d[k + 1] - d[k])) * _HALF
                ) * _HALF
                target[k] = np.sqrt((x * x + y * y) + z * z)


@njit(inline="always")
def _steepest(slope: Any, i: int, j: int, k: int) -> Any:
    """The greatest slope of a cell and its neighbours."""
    steepest = slope[i, j, k]
    for a in range(max(i - 1, 0), min(i + 2, slope.shape[0])):
        for b in range(max(j - 1, 0), min(j + 2, slope.shape[1])):
            for c in range(max(k - 1, 0), min(k + 2, slope.shape[2])):
                steepest = max(steepest, slope[a, b, c])
    return steepest


@njit(inline="always")
def _bend(values: Any, i: int, j: int, k: int) -> Any:
    """The sum over the axes of |δ²f| at a vertex; on a face of the grid, that of the vertex beside it."""
    x = min(max(i, 1), values.shape[0] - 2)
    y = min(max(j, 1), values.shape[1] - 2)
    z = min(max(k, 1), values.shape[2] - 2)
    total = abs(values[x + 1, j, k] - f4(2) * values[x, j, k] + values[x - 1, j, k])
    total += abs(values[i, y + 1, k] - f4(2) * values[i, y, k] + values[i, y - 1, k])
    total += abs(values[i, j, z + 1] - f4(2) * values[i, j, z] + values[i, j, z - 1])
    return total


@kernel()
def prune(
    values: Any, slope: Any, usual: Any, reach: Any, bent: Any, far: Any, near: Any, active: Any, doubt: Any,
    begin: int, end: int,
) -> None:  # fmt: skip
    """Take the mark from the active cells in which the field cannot reach zero, see `geometry.cells.pruned`.

    far: 1.122 and 0.866. near: 0.1. doubt: without cells where it is not wanted; else filled in active cells.
    """
    for i in range(begin, end):
        for j in range(active.shape[1]):
            for k in range(active.shape[2]):
                if not active[i, j, k]:
                    continue
                total, least = f4(0), f4(np.inf)
                negative, positive = False, False
                for c in range(2):
                    half = f4(0)
                    for b in range(2):
                        v, w = values[i, j + b, k + c], values[i + 1, j + b, k + c]
                        pair = abs(v) + abs(w)
                        half = half + pair if b else pair
                        least = min(least, min(abs(v), abs(w)))
                        negative |= (v < f4(0)) | (w < f4(0))
                        positive |= (v >= f4(0)) | (w >= f4(0))
                    total = total + half if c else half
                bound = reach * max(_steepest(slope, i, j, k), usual)
                free = (total / f4(8) > far[0] * bound) | (least > far[1] * bound)
                if len(doubt) > 0:
                    greatest = f4(0)
                    for corner in range(8):
                        bend = _bend(values, i + (corner & 1), j + ((corner >> 1) & 1), k + (corner >> 2))
                        greatest = max(greatest, bend)
                    doubt[i, j, k] = max(bent * greatest, near * bound)
                    free |= least > doubt[i, j, k]
                active[i, j, k] = not free or (negative and positive)


@kernel()
def children_to_see(values: Any, active: Any, doubt: Any, out: Any, begin: int, end: int) -> None:
    """Children (2M, …) of active cells (M, …) with both signs, or closer to zero than their parent's doubt.

    doubt: without cells, any child of an active cell.
    """
    for i in range(begin, end):
        for j in range(out.shape[1]):
            target, parents = out[i, j], active[i // 2, j // 2]
            for k in range(len(target)):
                target[k] = parents[k // 2]
                if not target[k] or len(doubt) == 0:
                    continue
                least, negative, positive = f4(np.inf), False, False
                for corner in range(8):
                    v = values[i + (corner & 1), j + ((corner >> 1) & 1), k + (corner >> 2)]
                    least = min(least, abs(v))
                    negative |= v < f4(0)
                    positive |= v >= f4(0)
                target[k] = (negative and positive) or least <= doubt[i // 2, j // 2, k // 2]


@kernel()
def unfinished(values: Any, known: Any, out: Any, begin: int, end: int) -> None:
    """Cells of both signs with a corner that is not known."""
    for i in range(begin, end):
        for j in range(values.shape[1] - 1):
            a, b, c, d = values[i, j], values[i, j + 1], values[i + 1, j], values[i + 1, j + 1]
            e, f, g, h = known[i, j], known[i, j + 1], known[i + 1, j], known[i + 1, j + 1]
            target = out[i, j]
            for k in range(len(target)):
                seen = e[k] & f[k] & g[k] & h[k] & e[k + 1] & f[k + 1] & g[k + 1] & h[k + 1]
                target[k] = _both_signs(a, b, c, d, k) & (not seen)
