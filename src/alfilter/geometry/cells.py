"""Cells and corners of a regular grid: vertices (M, M, M), the cells between them (M-1, M-1, M-1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]
Mask = NDArray[np.bool_]


def over_corners(values: NDArray[Any], join: Any) -> NDArray[Any]:
    """The eight corners of every cell combined by `join` (add, minimum, …): (M, M, M) → (M-1, M-1, M-1)."""
    for axis in range(3):
        values = join(*neighbours(values, axis))
    return values


def neighbours(values: NDArray[Any], axis: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Each entry but the last along an axis, and the one after it; views."""
    before: list[slice] = [slice(None)] * values.ndim
    after = before.copy()
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    return values[tuple(before)], values[tuple(after)]


def subdivided(cells: NDArray[Any]) -> NDArray[Any]:
    """Each cell as its eight children."""
    return cells.repeat(2, 0).repeat(2, 1).repeat(2, 2)


def sign_changes(values: Values) -> Mask:
    """Cells whose corners have both signs: the surface runs through them."""
    inside = values < 0
    both: Mask = over_corners(inside, np.logical_or) & ~over_corners(inside, np.logical_and)
    return both


def corners_of(cells: Mask) -> Mask:
    """The vertices of the marked cells: (M-1, ...) → (M, ...)."""
    for axis in range(3):
        pad = [(0, 0)] * 3
        pad[axis] = (1, 1)
        cells = np.logical_or(*neighbours(np.pad(cells, pad), axis))
    return cells


def gradient_norms(values: Values) -> Values:
    """|∇f| of every cell in units of f per side, from the mean differences along its edges."""
    squared = np.zeros([n - 1 for n in values.shape], np.float32)
    for axis in range(3):
        change = np.diff(values, axis=axis)
        for other in {0, 1, 2} - {axis}:
            change = np.add(*neighbours(change, other)) / 2
        squared += change**2
    return np.sqrt(squared)


def second_differences(values: Values) -> Values:
    """∑_k |δ²_k f| of every cell in units of f: the greatest of its corners."""
    total = np.zeros(values.shape, np.float32)
    for axis in range(3):
        moved, into = np.moveaxis(values, axis, 0), np.moveaxis(total, axis, 0)
        bend = np.abs(moved[2:] - 2 * moved[1:-1] + moved[:-2])
        into[1:-1] += bend
        into[0] += bend[0]
        into[-1] += bend[-1]
    greatest: Values = over_corners(total, np.maximum)
    return greatest


def local_maximum(values: Values) -> Values:
    """The greatest of each cell and its 26 neighbours."""
    from scipy.ndimage import maximum_filter

    greatest: Values = maximum_filter(values, size=3, mode="nearest")
    return greatest


def dilated(cells: Mask) -> Mask:
    """Marked cells and all their neighbours."""
    from scipy.ndimage import binary_dilation

    out: Mask = binary_dilation(cells, np.ones((3,) * cells.ndim, bool))
    return out


def upsampled(values: Values) -> Values:
    """Half the stride by linear interpolation: (M, ...) → (2M-1, ...)."""
    for axis in range(3):
        moved = np.moveaxis(values, axis, 0)
        finer = np.empty((2 * len(moved) - 1, *moved.shape[1:]), np.float32)
        finer[::2] = moved
        finer[1::2] = (moved[:-1] + moved[1:]) / 2
        values = np.moveaxis(finer, 0, axis)
    return np.ascontiguousarray(values)
