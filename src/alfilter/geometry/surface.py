"""The zero surface of a field, from coarse to fine: only cells that can hold it are evaluated.

A grid of N³ vertices over [-1, 1]³ is evaluated with strides 16, 8, 4, 2 and 1. A cell whose eight corners have one
sign is discarded when the field cannot reach zero in it:

    mean |f_i| > 1.122 L s h    or    min |f_i| > 0.866 L s h,

s h the cell's side, L a bound of the slope. Every point of the cell has a corner within √3/2 sides, and its mean
distance to the corners is at most 1.122 sides (at a corner: (3 + 3√2 + √3)/8), so both are safe when L is. L is not
known: it is the steepest slope found in the cell and its neighbours, at least the median one, times a margin.

Before the last stride a sharper bound is used as well. Between the corners of a cell the field differs from its
trilinear interpolant, which keeps their sign, by at most ∑_k max |∂²f/∂x_k²| (s h)²/8. So a cell is also discarded when

    min |f_i| > (margin ⋅ 2.7 / 8) ∑_k |δ²_k f|    and    min |f_i| > 0.1 L s h,

δ²_k f the greatest second difference along axis k at its corners. The same bound then says which of the children of the
cells that are left can hold the surface: those whose interpolated corners come closer to zero than that, or have both
signs. Where the field bends little, what is evaluated is a skin of one or two cells around the surface.

Two checks make up for an L that was too small. A discarded cell that turns out to touch both signs becomes
active again, with its neighbours, until there is none left: a surface that was found anywhere is followed everywhere.
And random vertices of discarded cells are evaluated: one with the wrong sign makes its cell active again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.geometry.cells import (
    Mask,
    Values,
    children_to_see,
    dilated,
    pruned,
    sign_changes,
    subdivided,
    unfinished,
    unknown_corners,
    upsampled,
)
from alfilter.geometry.repair import face_normals
from alfilter.runtime.limits import free_memory

Evaluate = Callable[[Values], Values]  # points (n, 3) in [-1, 1] → values (n,)

MARGIN = 2.0  # times the steepest slope nearby; 1.5 lost a speck of eight faces of a roughly fitted scan
_SLAB = 32  # cells of the last level that are in memory at once, along the first axis
_STEP = _SLAB // 2  # the same in cells of the level before
_BENT = 2.7 / 8  # of the second differences; with the margin two thirds of them, five times what a smooth field needs
_NOISE = (
    0.6  # of the cells: a field whose surface is nearly everywhere is finer than the grid: no bound holds, evaluate all
)
_BYTES = 160  # of the mesh for a cell that the surface crosses
_PROBES = 50_000  # vertices of discarded cells that are evaluated as a check


@dataclass
class Surface:
    """A mesh in the domain: vertices (n, 3), faces (m, 3) outwards, unit normals (n, 3); what it took to find it.

    strays: bodies that were left out (`geometry.strays`).
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    normals: NDArray[np.float64]
    resolution: int
    evaluated: int
    reopened: int
    strays: int = 0

    @property
    def share(self) -> float:
        """Evaluated points relative to the dense grid."""
        return self.evaluated / self.resolution**3


def extract(evaluate: Evaluate, resolution: int, *, margin: float = MARGIN, dense: bool = False) -> Surface:
    """The surface {f = 0} of a field that is negative inside, on a grid of `resolution`³ vertices at v/(N-1).

    dense: evaluate everything, the reference for what coarse-to-fine must find.

    >>> ball = extract(lambda p: np.linalg.norm(p, axis=1).astype(np.float32) - 0.5, 64)
    >>> bool(ball.share < 0.5), round(float(np.linalg.norm(ball.vertices, axis=1).mean()), 3)
    (True, 0.5)
    """
    if resolution < 2:
        raise UserError(f"a surface needs a resolution of at least 2, got {resolution}; 256 is a good start")
    pyramid = _Pyramid(evaluate, resolution, margin, dense)
    level = pyramid.start()
    while level.stride > 2:
        level = pyramid.refine(level)
    level = pyramid.probe(level)
    _check_memory(int(sign_changes(level.values).sum()), resolution)
    return _polygonise(pyramid, level)


def memory_needed(resolution: int, cells: float = 12.0) -> int:
    """Bytes that an extraction takes at its peak, roughly: the half-resolution level, one slab, and the mesh.

    cells: surface cells per squared resolution (a sphere that fills the box has about 5, detailed scans 2 to 4).
    """
    half, slab = (resolution / 2 + 1) ** 3, (_SLAB + 1) * (resolution + 1) ** 2
    return int(half * 34 + slab * 40 + cells * resolution**2 * _BYTES)


def _check_memory(crossed: int, resolution: int) -> None:
    """Refuse a surface that does not fit in memory. crossed: cells of stride 2 with both signs, of whose children it
    crosses four where it is smooth and all eight where it is noise."""
    free, needed = free_memory(), 6 * crossed * _BYTES
    if free is not None and needed > free:
        raise UserError(
            f"the surface at resolution {resolution} needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free: "
            "it lies nearly everywhere; train the field longer, or take a lower resolution"
        )


@dataclass
class _Level:
    """Values on every `stride`-th vertex, interpolated where not evaluated; the cells that may hold the surface."""

    stride: int
    values: Values  # (M, M, M)
    known: Mask  # (M, M, M)
    active: Mask  # (M-1, M-1, M-1)
    doubt: Values | None = None  # (M-1, M-1, M-1), how far the field may be from its interpolant; none: any distance


@dataclass
class _Pyramid:
    evaluate: Evaluate
    resolution: int
    margin: float
    dense: bool
    evaluated: int = 0
    reopened: int = 0

    def start(self) -> _Level:
        """The coarsest level, evaluated everywhere."""
        stride = 2
        while stride < 16 and (self.resolution - 1) / (2 * stride) >= 24:
            stride *= 2
        count = -(-(self.resolution - 1) // stride) + 1
        shape = (count,) * 3
        level = _Level(stride, np.zeros(shape, np.float32), np.zeros(shape, bool), np.ones((count - 1,) * 3, bool))
        self.fill(level)
        return self.prune(level)

    def refine(self, level: _Level) -> _Level:
        """Half the stride: children of active cells are evaluated, the rest is interpolated, which keeps its sign."""
        values, known = upsampled(level.values), np.zeros((2 * len(level.values) - 1,) * 3, bool)
        known[::2, ::2, ::2] = level.known
        finer = _Level(level.stride // 2, values, known, subdivided(level.active))
        self.fill(finer)
        self.close(finer)
        return self.prune(finer)

    def fill(self, level: _Level) -> None:
        """Evaluate the corners of active cells that are not known yet."""
        wanted = unknown_corners(level.active, level.known)
        index = np.flatnonzero(wanted)
        level.values.reshape(-1)[index] = self.at(np.stack(np.unravel_index(index, wanted.shape), 1) * level.stride)
        level.known |= wanted

    def at(self, places: NDArray[np.int64]) -> Values:
        """Values at grid vertices (n, 3); the last vertex stands for those beyond it."""
        last = self.resolution - 1
        points = ((2 * np.minimum(places, last) - last).astype(np.float64) / last).astype(np.float32)
        self.evaluated += len(points)
        values = self.evaluate(points)
        if not np.isfinite(values).all():
            raise UserError("the field is not finite everywhere; fit it again with a smaller learning rate")
        # a vertex exactly on the surface would make faces without area
        return np.where(values == 0, np.float32(1e-12), values)

    def close(self, level: _Level) -> None:
        """Make discarded cells active again while any of them touches both signs."""
        while (lost := sign_changes(level.values) & ~level.active).any():
            self.reopened += int(lost.sum())
            level.active |= dilated(lost)
            self.fill(level)

    def prune(self, level: _Level) -> _Level:
        """Discard the cells in which the field cannot reach zero."""
        if self.dense:
            return level
        bent = _BENT * self.margin if level.stride == 2 else None
        level.active, level.doubt = pruned(level.values, level.active, self.margin, bent)
        if level.active.mean() > _NOISE:
            level.active[...], level.doubt = True, None
            self.fill(level)
        return level

    def probe(self, level: _Level) -> _Level:
        """Evaluate random vertices of discarded cells; a wrong sign makes the cell and its neighbours active again."""
        before = level.active.copy()
        for attempt in range(8):
            discarded = np.flatnonzero(~level.active)
            if len(discarded) == 0:
                break
            rng = np.random.default_rng(attempt)
            cells = np.stack(
                np.unravel_index(rng.choice(discarded, min(_PROBES, len(discarded))), level.active.shape), 1
            )
            values = self.at(cells * level.stride + level.stride // 2)
            wrong = cells[np.signbit(values) != np.signbit(level.values[tuple(cells.T)])]
            if len(wrong) == 0:
                break
            lost = np.zeros_like(level.active)
            lost[tuple(wrong.T)] = True
            self.reopened += len(wrong)
            level.active |= dilated(dilated(lost))
            self.fill(level)
            self.close(level)
        if level.doubt is not None:
            level.doubt[level.active & ~before] = np.inf  # nothing was known of how it bends there
        return level


# ── the last level, a slab at a time ─────────────────────────────────────────────────────────────────────────────────


def _polygonise(pyramid: _Pyramid, level: _Level) -> Surface:
    """Marching cubes of every slab, after the surface has been followed through all of them."""
    slabs = _Slabs(pyramid, level)
    pieces: dict[int, Any] = {}
    queue = list(slabs.starts)
    while queue:
        for first in queue:
            slabs.evaluate_surface(first)
        touched = {start for first in queue for start in (first - _STEP, first, first + _STEP)} & set(slabs.starts)
        queue = []
        for first in sorted(touched):
            values, known = slabs.slab(first)
            if unfinished(values, known).any():  # a neighbour has found what this one did not look at
                queue.append(first)
            else:
                pieces[first] = _march(values[: pyramid.resolution - 2 * first, *[slice(pyramid.resolution)] * 2])
    vertices, faces = _weld([(2 * first, *pieces[first]) for first in slabs.starts])
    if len(faces) == 0:
        raise UserError("the field has no surface in its domain; fit it longer, or with another seed")
    vertices = (2 * vertices - (pyramid.resolution - 1)) / (pyramid.resolution - 1)
    normals = vertex_normals(vertices, faces)
    return Surface(vertices, faces, normals, pyramid.resolution, pyramid.evaluated, pyramid.reopened)


class _Slabs:
    """The finest level, of which one slab of cells, with the planes it shares with its neighbours, exists at a time."""

    def __init__(self, pyramid: _Pyramid, level: _Level) -> None:
        self.pyramid, self.level = pyramid, level
        self.starts = range(0, len(level.active), _STEP)
        self._found: dict[int, tuple[NDArray[np.int64], Values]] = {}

    def slab(self, first: int) -> tuple[Values, Mask]:
        """The slab that begins at a cell of the level: values, interpolated where they are not known, and which are."""
        planes = slice(first, first + _STEP + 1)
        values = upsampled(self.level.values[planes])
        known = np.zeros(values.shape, bool)
        known[::2, ::2, ::2] = self.level.known[planes]
        size = values.shape[1] * values.shape[2]
        # its own values, and of its neighbours' those on the planes it shares with them
        for start, offset in ((first - _STEP, -_SLAB * size), (first + _STEP, _SLAB * size), (first, 0)):
            if start in self._found:
                index, held = self._found[start]
                here = slice(*np.searchsorted(index, [-offset, -offset + values.size]))
                values.reshape(-1)[index[here] + offset] = held[here]
                known.reshape(-1)[index[here] + offset] = True
        return values, known

    def evaluate_surface(self, first: int) -> None:
        """Evaluate the cells of a slab that can hold the surface, and follow it from there."""
        values, known = self.slab(first)
        parents = slice(first, first + _STEP)
        active, doubt = self.level.active[parents], self.level.doubt
        wanted = children_to_see(values, active, None if doubt is None else doubt[parents])
        while wanted.any():
            self.evaluate(values, known, wanted, 2 * first)
            wanted = unfinished(values, known)
            if wanted.any() and (lost := wanted & ~subdivided(active)).any():  # the bound was wrong here: look around
                self.pyramid.reopened += int(lost.sum())
                wanted |= dilated(lost)
        index = np.flatnonzero(known)
        self._found[first] = index, values.reshape(-1)[index]

    def evaluate(self, values: Values, known: Mask, cells: Mask, first: int) -> None:
        """The corners of some cells, those that are not known yet."""
        wanted = unknown_corners(cells, known)
        index = np.flatnonzero(wanted)
        places = np.stack(np.unravel_index(index, wanted.shape), 1) + np.array([first, 0, 0])
        values.reshape(-1)[index] = self.pyramid.at(places)
        known |= wanted


def _march(values: Values) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Marching cubes (Lewiner) of one slab: vertices in cells from its own corner, faces outwards."""
    none = np.empty((0, 3)), np.empty((0, 3), np.int64)
    values = np.ascontiguousarray(values)
    if min(values.shape) < 2 or not (crossing := sign_changes(values)).any():
        return none
    from skimage.measure import marching_cubes

    vertices, faces, _, _ = marching_cubes(  # type: ignore[no-untyped-call]
        values, 0.0, gradient_direction="descent", mask=unknown_corners(crossing, np.zeros(values.shape, bool))
    )
    return vertices.astype(np.float64), faces.astype(np.int64)


def _weld(pieces: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One mesh of all slabs: vertices that two of them have on their shared plane become one."""
    counts = np.cumsum([0, *(len(vertices) for _, vertices, _ in pieces)])
    vertices = np.concatenate([v + np.array([first, 0, 0]) for first, v, _ in pieces])
    faces = np.concatenate([f + begin for (_, _, f), begin in zip(pieces, counts, strict=False)])
    edge = np.flatnonzero((vertices[:, 0] % _SLAB == 0) & (vertices[:, 0] > 0))
    number = np.arange(len(vertices))
    if len(edge):
        _, first, inverse = np.unique(vertices[edge], axis=0, return_index=True, return_inverse=True)
        number[edge] = edge[first][inverse.reshape(-1)]
    faces = number[faces]
    used = np.zeros(len(vertices), bool)
    used[faces] = True
    faces = (np.cumsum(used) - 1)[faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    return vertices[used], faces[whole]


def vertex_normals(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Unit normals (n, 3): the faces' own, weighted by area."""
    across = face_normals(vertices, faces)
    total = np.zeros_like(vertices)
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(faces[:, corner], weights=across[:, axis], minlength=len(vertices))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0, length, 1)
