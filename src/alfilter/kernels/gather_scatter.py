"""The corners of the cells around a point, and weighted sums of a table's rows, forward and backward.

The plain versions are `core.hash_grid.corners` and `core.hash_grid.weighted_rows`. One thread each, without the GIL.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from alfilter.kernels.jit import FAST, f4, kernel


@kernel(fastmath=FAST)
def corners(
    x: Any, cells: Any, offsets: Any, masks: Any, primes: Any, snap: Any, index: Any, weight: Any
) -> None:  # x (n, d), cells (L, d) → index, weight (n, L, 2^d)
    """Rows and weights of the corners of every point's cells, built by doubling: one axis after the other."""
    points, dims = x.shape
    for level in range(cells.shape[0]):
        mask = masks[level]
        first = offsets[level]
        for i in range(points):
            index[i, level, 0] = 0
            weight[i, level, 0] = f4(1)
            count = 1
            for k in range(dims):
                last = cells[level, k]
                p = (min(max(x[i, k], f4(-1)), f4(1)) + f4(1)) * (f4(last) * f4(0.5))
                nearest = np.rint(p)
                if abs(p - nearest) <= snap:
                    p = nearest
                low = min(int(p), max(last - 1, 0))
                part = p - f4(low)
                high = min(low + 1, last)
                for c in range(count):
                    row = np.int64(index[i, level, c])
                    share = weight[i, level, c]
                    if mask == 0:
                        row *= last + 1
                        index[i, level, c] = row + low
                        index[i, level, c + count] = row + high
                    else:
                        index[i, level, c] = (row ^ (low * primes[k])) & mask
                        index[i, level, c + count] = (row ^ (high * primes[k])) & mask
                    weight[i, level, c] = share * (f4(1) - part)
                    weight[i, level, c + count] = share * part
                count *= 2
            for c in range(count):
                index[i, level, c] += first


@kernel(fastmath=FAST)
def gather(table: Any, index: Any, weight: Any, out: Any) -> None:
    """out (n, F) = Σ_k weight (n, K) table (R, F) [index (n, K)]; a negative index is no row."""
    points, count = index.shape
    features = table.shape[1]
    if features == 2:
        for i in range(points):
            a, b = f4(0), f4(0)
            for k in range(count):
                row = index[i, k]
                if row >= 0:
                    a += weight[i, k] * table[row, 0]
                    b += weight[i, k] * table[row, 1]
            out[i, 0], out[i, 1] = a, b
        return
    for i in range(points):
        for f in range(features):
            out[i, f] = f4(0)
        for k in range(count):
            row = index[i, k]
            if row >= 0:
                share = weight[i, k]
                for f in range(features):
                    out[i, f] += share * table[row, f]


@kernel(fastmath=FAST)
def scatter(grad: Any, index: Any, weight: Any, table: Any) -> None:
    """table (R, F) += the transpose of `gather` on grad (n, F)."""
    points, count = index.shape
    features = table.shape[1]
    if features == 2:
        for i in range(points):
            a, b = grad[i, 0], grad[i, 1]
            for k in range(count):
                row = index[i, k]
                if row >= 0:
                    table[row, 0] += weight[i, k] * a
                    table[row, 1] += weight[i, k] * b
        return
    for i in range(points):
        for k in range(count):
            row = index[i, k]
            if row >= 0:
                share = weight[i, k]
                for f in range(features):
                    table[row, f] += share * grad[i, f]
