"""Compiled distances to a closed mesh: its triangles in a tree of boxes, and by columns along x for the sign."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from alfilter.geometry.points import Array, Index, curve_order
from alfilter.kernels.dispatch import current_way, kernels_available, load_kernels
from alfilter.runtime.compilation import compile_once, kernel_calls_of
from alfilter.runtime.thread_pool import for_slices

_CURVE_BITS = 20  # along each axis of the curve that orders triangles
_PER_CELL = 1.0  # cells for a triangle, in the plane that columns stand on
_MOST_CELLS = 2048  # along a side
_MOST_ENTRIES = 32  # for a triangle, in the lists of all cells: long diagonal ones would stand in almost every list
_WORTH_SHARING = 1 << 10  # points


def can_search(faces: Index) -> bool:
    """Whether there are kernels, and winding numbers are integers."""
    return kernels_available() and current_way() != "plain" and len(faces) > 0 and is_closed(faces)


class MeshSearch:
    """The exact distance to a closed mesh and its winding number, without the GIL; each has a structure of its own.

    shared: points are shared among all cores; otherwise the calling thread does the work alone, beside others.

    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> search = MeshSearch(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    >>> points = np.array([[0.1, 0.2, 0.2], [0.2, 0.3, -2.0]])
    >>> search.distances(points, curve_order(points)).tolist(), search.windings(points, curve_order(points)).tolist()
    ([0.1, 2.0], [1, 0])
    """

    def __init__(self, vertices: Array, faces: Index) -> None:
        self._mesh = vertices, faces
        compile_once("distances to a mesh", lambda: kernel_calls_of(self._call_all))

    @cached_property
    def _tree(self) -> Any:
        return box_tree(*self._mesh)

    @cached_property
    def _columns(self) -> Any:
        return columns(*self._mesh)

    def distances(self, points: Array, order: Index, shared: bool = True) -> Array:
        """The distance (n,) of points (n, 3) to the surface. order: in which they are looked at."""
        out, tree, run = np.empty(len(points)), self._tree, load_kernels("mesh_distance").nearest
        _in_slices(lambda part: run(points, order[part], tree, out), len(out), shared)
        return out

    def windings(self, points: Array, order: Index, shared: bool = True) -> Index:
        """How often the surface winds around each point (n, 3): (n,)."""
        out, lists, run = np.empty(len(points), np.int64), self._columns, load_kernels("mesh_distance").windings
        _in_slices(lambda part: run(points, order[part], lists, out), len(out), shared)
        return out

    def _call_all(self) -> None:
        one = np.zeros((1, 3))
        self.distances(one, curve_order(one))
        self.windings(one, curve_order(one))


def _in_slices(run: Callable[[slice], object], count: int, shared: bool) -> None:
    if shared:
        for_slices(run, count, _WORTH_SHARING)
    else:
        run(slice(0, count))


def is_closed(faces: Index) -> bool:
    """Whether every edge is passed as often in one direction as in the other, so that winding numbers are integers.

    >>> is_closed(np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])), is_closed(np.array([[0, 1, 2]]))
    (True, False)
    """
    count = int(faces.max(initial=0)) + 1
    a, b = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    return bool(np.array_equal(np.sort(a * count + b), np.sort(b * count + a)))


def box_tree(vertices: Array, faces: Index) -> Any:
    """`kernels.mesh_distance.Tree` of a mesh: triangles along a curve, eight in a leaf, eight children a node."""
    kernels = load_kernels("mesh_distance")
    wide = kernels.WIDE
    corners = vertices[faces[curve_order(vertices[faces].mean(axis=1), _CURVE_BITS)]]
    corners = np.concatenate([corners, np.repeat(corners[-1:], -len(corners) % wide, axis=0)])  # whole leaves
    low, high = corners.min(axis=1), corners.max(axis=1)
    corners[:, 1:] -= corners[:, :1]
    leaves = _by_lanes(corners.reshape(-1, wide, 9))
    levels: list[Array] = []
    low, high = low.reshape(-1, wide, 3).min(axis=1), high.reshape(-1, wide, 3).max(axis=1)
    while not levels or len(levels[0]) > 1:
        missing = ((0, -len(low) % wide), (0, 0))
        low = np.pad(low, missing, constant_values=np.inf).reshape(-1, wide, 3)
        high = np.pad(high, missing, constant_values=-np.inf).reshape(-1, wide, 3)
        levels.insert(0, _by_lanes(np.concatenate([low, high], axis=2)))
        low, high = low.min(axis=1), high.max(axis=1)
    first = np.cumsum([0, *(len(level) for level in levels[:-1])])
    return kernels.Tree(np.concatenate(levels), first, leaves)


def _by_lanes(rows: Array) -> Array:
    """(n, 8, k) → (n, k, 8)."""
    return np.ascontiguousarray(rows.transpose(0, 2, 1))


def columns(vertices: Array, faces: Index) -> Any:
    """`kernels.mesh_distance.Columns` of a mesh."""
    plane = vertices[:, 1:]
    low, extent = plane.min(axis=0), max(float(np.ptp(plane, axis=0).max()), 1e-300)
    cells = int(min(max(np.sqrt(_PER_CELL * len(faces)), 1), _MOST_CELLS))
    while True:
        scale = cells / (extent * (1 + 1e-9))
        at = np.floor((plane - low) * scale).astype(np.int64)[faces]  # (m, 3, 2), the cell of each corner
        begin, count = at.min(axis=1), np.ptp(at, axis=1) + 1
        each = count.prod(axis=1)  # cells of a triangle
        if cells == 1 or each.sum() <= _MOST_ENTRIES * len(faces):
            break
        cells //= 2
    face = np.repeat(np.arange(len(faces)), each)
    number = np.arange(len(face)) - np.repeat(np.cumsum(each) - each, each)
    row, column = np.divmod(number, count[face, 1])
    cell = (begin[face, 0] + row) * cells + begin[face, 1] + column
    order = np.argsort(cell, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells * cells))])
    listed, corners = face[order].astype(np.int32), vertices[faces].reshape(-1, 9)
    return load_kernels("mesh_distance").Columns(first, listed, corners, low, scale, cells)
