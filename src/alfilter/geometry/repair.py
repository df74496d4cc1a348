"""What is wrong with a mesh, what is repaired, and what cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, need
from alfilter.geometry.distance import MeshDistance
from alfilter.geometry.points import Array, Index
from alfilter.runtime.limits import free_memory

LARGEST = 20_000_000  # faces; beyond, the trees over them alone take gigabytes
MANY = 1_000_000  # faces above which the work is announced, and the trees over them exist once only
BYTES = 700  # a face, of reading, mending and its share of the trees, measured
_ROWS = 1 << 20  # faces processed at once
_PROBES = 20_000  # points that decide whether a mesh encloses anything


@dataclass(frozen=True)
class Triangles:
    """A repaired mesh: vertices (n, 3), faces (m, 3) wound so that normals point outwards."""

    vertices: Array
    faces: Index


@dataclass(frozen=True)
class Diagnosis:
    """Counts of what a mesh had when it came in, and what was done about it."""

    faces: int
    vertices: int
    components: int
    duplicate_vertices: int
    unused_vertices: int
    degenerate_faces: int
    duplicate_faces: int
    open_edges: int
    crowded_edges: int
    mixed_edges: int
    inverted: bool
    buried: float

    @property
    def watertight(self) -> bool:
        """Every edge has exactly two faces."""
        return self.open_edges == 0 and self.crowded_edges == 0

    def lines(self) -> list[str]:
        """The diagnosis as text, one finding per line, with what was repaired."""
        parts = f"{self.components} component{'s' * (self.components != 1)}"
        closed = "watertight" if self.watertight else "not watertight"
        lines = [f"mesh: {self.faces:,} faces, {self.vertices:,} vertices, {parts}, {closed}"]
        if self.open_edges:
            lines.append(f"{self.open_edges:,} open edges: the winding number closes the holes")
        if self.crowded_edges:
            lines.append(f"{self.crowded_edges:,} edges with more than two faces: left as they are")
        if self.mixed_edges:
            lines.append(f"mixed winding at {self.mixed_edges:,} edges: faces turned to agree with their neighbours")
        if self.inverted:
            lines.append("inverted winding: all faces turned")
        for count, what, done in (
            (self.duplicate_vertices, "duplicate vertices", "merged"),
            (self.unused_vertices, "unused vertices", "dropped"),
            (self.degenerate_faces, "faces without area", "dropped"),
            (self.duplicate_faces, "faces that occur twice", "dropped"),
        ):
            if count:
                lines.append(f"{count:,} {what}: {done}")
        if self.buried > 0.001:
            lines.append(f"{self.buried:.1%} of the surface lies inside the shape (self-intersection): left as it is")
        return lines

    def describe(self) -> dict[str, Any]:
        """For a model file."""
        return {**asdict(self), "watertight": self.watertight}


def repair_mesh(
    vertices: NDArray[Any], faces: NDArray[Any], name: str = "the mesh", say: Callable[[str], None] = lambda line: None
) -> tuple[Triangles, Diagnosis]:
    """A clean copy of a mesh and the diagnosis of the original; a mesh that encloses nothing is refused.

    say: called with what is being done to a mesh of many faces.
    """
    points, corners = _checked(vertices, faces, name)
    if len(corners) < MANY:
        say = lambda line: None  # noqa: E731
    say(f"{len(corners):,} faces: looking for duplicates")
    faces_in, vertices_in = len(corners), len(points)
    points, corners, duplicates = _merge(points, corners)
    corners, degenerate = _drop_degenerate(points, corners, name)
    corners, twice = _drop_twins(corners)
    points, corners, unused = _drop_unused(points, corners)
    say("looking at edges and winding")
    open_edges, crowded, mixed = _edges(corners)
    if mixed:
        corners = _agree(points, corners)
    inverted = signed_volume(points, corners) < 0
    if inverted:
        corners = np.ascontiguousarray(corners[:, ::-1])
    say("looking for the inside")
    buried = _probe(points, corners, name)
    components = _components(corners)
    diagnosis = Diagnosis(
        faces_in, vertices_in, components, duplicates, unused, degenerate, twice, open_edges, crowded, mixed,
        bool(inverted), buried,
    )  # fmt: skip
    return Triangles(points, corners), diagnosis


def signed_volume(vertices: Array, faces: Index) -> float:
    """∑ a · (b × c) / 6 over the faces: positive when normals point outwards.

    Taken about the middle of the box, so that a shape far from the origin keeps its digits.
    """
    middle, total = (vertices.min(axis=0) + vertices.max(axis=0)) / 2, 0.0
    for k in range(0, len(faces), _ROWS):
        a, b, c = (vertices[faces[k : k + _ROWS, corner]] - middle for corner in range(3))
        total += float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)
    return total


def face_normals(vertices: Array, faces: Index) -> Array:
    """Normals (m, 3) whose length is twice the face's area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def face_areas(vertices: Array, faces: Index) -> Array:
    """Twice the areas (m,), some faces at a time."""
    parts = [np.linalg.norm(face_normals(vertices, faces[k : k + _ROWS]), axis=1) for k in range(0, len(faces), _ROWS)]
    return np.concatenate(parts)


def rows_in_order(rows: NDArray[Any]) -> tuple[Index, NDArray[np.bool_]]:
    """The order (n,) that sorts rows (n, 3), equal ones as they came, and where a new row begins in it.

    >>> rows_in_order(np.array([[2, 0, 0], [1, 5, 0], [2, 0, 0]]))
    (array([1, 0, 2]), array([ True,  True, False]))
    """
    order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
    new = np.zeros(len(rows), dtype=bool)
    new[:1] = True
    for column in rows.T:
        values = column[order]
        new[1:] |= values[1:] != values[:-1]
    return order, new


def _checked(vertices: NDArray[Any], faces: NDArray[Any], name: str) -> tuple[Array, Index]:
    points = np.ascontiguousarray(vertices, dtype=np.float64)
    corners = np.ascontiguousarray(faces, dtype=np.int64)
    if points.size == 0 or corners.size == 0:
        raise UserError(f"expected a mesh with faces, got {len(points)} vertices and {len(corners)} faces in {name}; "
                        "give a surface, or points with normals")  # fmt: skip
    if points.ndim != 2 or points.shape[1] != 3 or corners.ndim != 2 or corners.shape[1] != 3:
        raise UserError(
            f"expected triangles in space, got {points.shape} and {corners.shape} in {name}; triangulate it"
        )
    if len(corners) > LARGEST:
        raise UserError(f"expected at most {LARGEST:,} faces, got {len(corners):,} in {name}; simplify it first")
    if (free := free_memory()) is not None and len(corners) * BYTES > free:
        raise UserError(
            f"{len(corners):,} faces in {name} need about {len(corners) * BYTES / 1e9:.1f} GB, {free / 1e9:.1f} GB are "
            "free; simplify it first"
        )
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise UserError(
            f"expected finite vertices in {name}, got {len(bad)} NaN or infinite, the first is {bad[0]}; repair them"
        )
    if corners.min() < 0 or corners.max() >= len(points):
        raise UserError(f"a face of {name} names vertex {int(corners.max())}, there are {len(points)}; it is damaged")
    return points, corners


def _merge(points: Array, corners: Index) -> tuple[Array, Index, int]:
    """Vertices at the very same place become one."""
    order, new = rows_in_order(points)
    lost = int((~new).sum())
    if not lost:
        return points, corners, 0
    number = np.empty(len(points), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(points[order[new]]), number[corners], lost


def _drop_degenerate(points: Array, corners: Index, name: str) -> tuple[Index, int]:
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    area = face_areas(points, corners)
    remaining = area > 1e-14 * extent * extent
    if not remaining.any():
        raise UserError(f"no face of {name} has an area; give a surface that encloses a volume")
    return (corners, 0) if remaining.all() else (np.ascontiguousarray(corners[remaining]), int((~remaining).sum()))


def _drop_twins(corners: Index) -> tuple[Index, int]:
    """Faces with the same three vertices and the same sense count once."""
    first = np.argmin(corners, axis=1)[:, None]
    order, new = rows_in_order(np.take_along_axis(corners, (first + np.arange(3)) % 3, axis=1))
    remaining = np.sort(order[new])
    lost = len(corners) - len(remaining)
    return (np.ascontiguousarray(corners[remaining]), lost) if lost else (corners, 0)


def _drop_unused(points: Array, corners: Index) -> tuple[Array, Index, int]:
    used = np.zeros(len(points), dtype=bool)
    used[corners] = True
    lost = int((~used).sum())
    if not lost:
        return points, corners, 0
    number = np.cumsum(used) - 1
    return np.ascontiguousarray(points[used]), number[corners], lost


def _edge_keys(corners: Index) -> Index:
    """Two times a number of each edge, plus one when it runs upwards: (3 m,), first all first edges."""
    size = int(corners.max()) + 1
    key = np.empty((3, len(corners)), dtype=np.int64)
    for k in range(3):
        start, end = corners[:, k], corners[:, (k + 1) % 3]
        key[k] = 2 * (np.minimum(start, end) * size + np.maximum(start, end)) + (start < end)
    return key.reshape(-1)


def _edges(corners: Index) -> tuple[int, int, int]:
    """Edges with one face, with more than two, and with two faces that run along it the same way."""
    key = _edge_keys(corners)
    key.sort()
    begins = np.flatnonzero(np.r_[True, key[1:] >> 1 != key[:-1] >> 1])
    count = np.diff(np.append(begins, len(key)))
    two = begins[count == 2]
    return int((count == 1).sum()), int((count > 2).sum()), int((key[two] == key[two + 1]).sum())


def _components(corners: Index) -> int:
    """Parts of the mesh that share no edge."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    key = _edge_keys(corners) >> 1
    order = np.argsort(key)
    key = key[order]
    shared = np.flatnonzero(key[1:] == key[:-1])
    one, other = order[shared] % len(corners), order[shared + 1] % len(corners)
    links = coo_array((np.ones(len(one), np.int32), (one, other)), shape=(len(corners),) * 2).tocsr()
    return int(connected_components(links, directed=False, return_labels=False))


def _agree(points: Array, corners: Index) -> Index:
    """Turn faces so that neighbours agree; each patch keeps the sense that most of its area had."""
    turned, patch = need("igl").bfs_orient(corners)
    turned, patch = np.asarray(turned, dtype=np.int64), np.asarray(patch).reshape(-1)
    flipped = (face_normals(points, turned) * face_normals(points, corners)).sum(axis=1) < 0
    area = face_areas(points, corners)
    against = np.bincount(patch, weights=area * np.where(flipped, 1.0, -1.0)) > 0
    return np.ascontiguousarray(np.where(against[patch][:, None], turned[:, ::-1], turned))


def _probe(points: Array, corners: Index, name: str) -> float:
    """Look just below and just above the faces: refuse when nothing is enclosed, return the buried share."""
    area = face_areas(points, corners)
    chosen = np.random.default_rng(0).choice(len(corners), size=_PROBES, p=area / area.sum())
    middle = points[corners[chosen]].mean(axis=1)
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    step = 1e-4 * extent * face_normals(points, corners[chosen]) / area[chosen][:, None]
    mesh = MeshDistance(points, corners)
    below = mesh.winding(middle - step) > 0.55  # a plane stays at 0.5
    if below.mean() < 0.01:
        raise UserError(f"{name} encloses nothing (no inside behind its faces); close it, or give points with normals")
    above = mesh.winding(middle + step) > 0.75
    return float(above.mean())
