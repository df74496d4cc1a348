"""d-linear interpolation of a scalar grid and its transpose; the plain version is `core.grid.interpolate`."""

from __future__ import annotations

from typing import Any

from numba import njit

from alfilter.kernels.jit import FAST, f4, kernel


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


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
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
