"""Cells and corners of a regular grid: vertices (M, M, M), the cells between them (M-1, M-1, M-1).

Where kernels are available, the functions that a surface's search spends its time on are one compiled pass each, on all
cores, with the same result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.kernels.dispatch import current_way, kernels_available, load_kernels
from alfilter.runtime.thread_pool import for_slices

Values = NDArray[np.float32]
Mask = NDArray[np.bool_]

_REACH = (1.122, 0.866)  # sides from a place in a cell to its corners: the mean, and to the nearest, at most
_LEAST = 0.1  # of the bound by slopes, below which that by second differences is not trusted
_WORTH_SHARING = 24  # planes
_NONE = np.empty((0, 0, 0), np.float32)


def _compiled() -> bool:
    return kernels_available() and current_way() != "plain"


def _pass(name: str, out: NDArray[Any], *arguments: Any) -> NDArray[Any]:
    """A kernel of `kernels.cells` over all planes of `out`, its last array."""
    run = getattr(load_kernels("cells"), name)
    for_slices(lambda part: run(*arguments, out, part.start, part.stop), len(out), _WORTH_SHARING)
    return out


def _cells_of(values: NDArray[Any]) -> Mask:
    return np.empty([n - 1 for n in values.shape], bool)


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
    if _compiled():
        return _pass("crossed", _cells_of(values), np.ascontiguousarray(values))
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
    if _compiled():
        return _pass("slopes", np.empty([n - 1 for n in values.shape], np.float32), np.ascontiguousarray(values))
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
    if _compiled():
        finer = np.empty([2 * n - 1 for n in values.shape], np.float32)
        return _pass("upsample", finer, np.ascontiguousarray(values))
    for axis in range(3):
        moved = np.moveaxis(values, axis, 0)
        finer = np.empty((2 * len(moved) - 1, *moved.shape[1:]), np.float32)
        finer[::2] = moved
        finer[1::2] = (moved[:-1] + moved[1:]) / 2
        values = np.moveaxis(finer, 0, axis)
    return np.ascontiguousarray(values)


def unknown_corners(cells: Mask, known: Mask) -> Mask:
    """The vertices of the marked cells that are not known."""
    if _compiled():
        return _pass("unknown_corners", np.empty(known.shape, bool), cells, known)
    return corners_of(cells) & ~known


def unfinished(values: Values, known: Mask) -> Mask:
    """Cells of both signs with a corner that is not known."""
    if _compiled():
        return _pass("unfinished", _cells_of(values), values, known)
    open_cells: Mask = sign_changes(values) & ~over_corners(known, np.logical_and)
    return open_cells


def children_to_see(values: Values, active: Mask, doubt: Values | None) -> Mask:
    """Children of active cells with both signs, or closer to zero than their parent's doubt; without it, all of them.

    values: of the children's corners, (2M+1, …). active, doubt: (M, …).
    """
    if _compiled():
        out = np.empty([2 * n for n in active.shape], bool)
        return _pass("children_to_see", out, values, active, _NONE if doubt is None else doubt)
    children = subdivided(active)
    if doubt is None:
        return children
    least = over_corners(np.abs(values), np.minimum)
    return children & (sign_changes(values) | (least <= subdivided(doubt)))


def pruned(values: Values, active: Mask, reach: float, bent: float | None) -> tuple[Mask, Values | None]:
    """The active cells in which the field can reach zero, and how far it may be from its interpolant in them.

    reach: a bound of the slope, relative to the steepest found nearby. bent: how many second differences the field may
    be from its interpolant; none: no doubt is given. The bounds are those of `geometry.surface`.
    """
    slope = gradient_norms(values)
    usual = float(np.median(slope[active])) if active.any() else 0.0
    doubt: Values | None = None
    if _compiled():
        doubt, left = np.empty(active.shape, np.float32) if bent is not None else _NONE, active.copy()
        numbers = [np.float32(number) for number in (usual, reach, bent or 0.0)]
        limits = np.array(_REACH, np.float32), np.float32(_LEAST)
        run = load_kernels("cells").prune
        for_slices(
            lambda part: run(values, slope, *numbers, *limits, left, doubt, part.start, part.stop),
            len(left),
            _WORTH_SHARING,
        )
        return left, doubt if bent is not None else None
    corners = np.abs(values)
    mean, least = over_corners(corners, np.add) / 8, over_corners(corners, np.minimum)
    bound = reach * np.maximum(local_maximum(slope), usual)
    free = (mean > _REACH[0] * bound) | (least > _REACH[1] * bound)
    if bent is not None:
        doubt = np.maximum(bent * second_differences(values), _LEAST * bound)
        free |= least > doubt
    return active & (~free | sign_changes(values)), doubt
