"""Exact signed distance to a triangle mesh: the distance from a tree of boxes, the sign from the winding number."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from alfilter.errors import need
from alfilter.geometry.mesh_search import MeshSearch, can_search
from alfilter.geometry.points import Array, Index, curve_order, point_tree


class MeshDistance:
    """Distances to one mesh; its trees are built at the first query, which takes longer than thousands of queries.

    Those of a closed mesh are compiled (`mesh_search`); libigl computes those of others, and all where there are no
    kernels.
    """

    def __init__(self, vertices: Array, faces: Index) -> None:
        self.vertices, self.faces = vertices, faces
        self._aabb: Any = None
        self._winding: Any = None

    @cached_property
    def search(self) -> MeshSearch | None:
        """The compiled search, which does not hold the GIL; None where libigl does the work."""
        return MeshSearch(self.vertices, self.faces) if can_search(self.faces) else None

    def unsigned(self, points: Array, shared: bool = True) -> Array:
        """min_q |p - q| over the surface. points: (n, 3) → (n,). shared: among all cores, see `MeshSearch`."""
        return self._distances(*_ordered(points), shared)

    def winding(self, points: Array, shared: bool = True) -> Array:
        """How often the surface winds around each point: 1 inside, 0 outside, in between near a hole.

        points: (n, 3) → (n,). Of a closed mesh exact, by a line from the point; else Jacobson et al. 2013, in the fast
        approximation of Barill et al. 2018.
        """
        return self._windings(*_ordered(points), shared)

    def signed(self, points: Array, shared: bool = True) -> Array:
        """±the distance, negative where the winding number is above 0.5. points: (n, 3) → (n,)."""
        queries, order = _ordered(points)
        distance = self._distances(queries, order, shared)
        return np.where(self._windings(queries, order, shared) > 0.5, -distance, distance)

    def _distances(self, points: Array, order: Index, shared: bool) -> Array:
        if self.search is not None:
            return self.search.distances(points, order, shared)
        if self._aabb is None:
            self._aabb = need("igl").AABB()
            self._aabb.init(self.vertices, self.faces)
        out = np.empty(len(points))
        out[order] = np.sqrt(np.atleast_1d(self._aabb.squared_distance(self.vertices, self.faces, points[order])[0]))
        return out

    def _windings(self, points: Array, order: Index, shared: bool) -> Array:
        if self.search is not None:
            return self.search.windings(points, order, shared).astype(np.float64)
        if self._winding is None:
            self._winding = need("igl").FastWindingNumberBVH()
            self._winding.init(self.vertices, self.faces)
        return np.atleast_1d(self._winding.winding_number(points))


def _ordered(points: Array) -> tuple[Array, Index]:
    """Points as compiled code reads them, and an order in which they are looked up quickly."""
    return np.ascontiguousarray(points, dtype=np.float64), curve_order(points)


def signed_distance(points: Array, vertices: Array, faces: Index) -> Array:
    """d(p) = ±min_q |p - q| over the surface, negative inside. points: (n, 3) → (n,).

    The distance is exact. The sign alone comes from the generalised winding number, w > 0.5
    inside, so that holes and flipped faces do not turn space inside out.

    >>> cube = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])
    >>> sides = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    ...          [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    >>> signed_distance(np.array([[0.0, 0, 0], [0, 0, 3]]), cube, np.array(sides)).tolist()
    [-1.0, 2.0]
    """
    return MeshDistance(vertices, faces).signed(points)


def winding_number(points: Array, vertices: Array, faces: Index) -> Array:
    """`MeshDistance.winding` of one set of points."""
    return MeshDistance(vertices, faces).winding(points)


def cloud_distance(points: Array, cloud: Array, normals: Array) -> Array:
    """The source's target for an oriented cloud: s(p) = (p - v_0) · mean of the normals of the 3 nearest points.

    v_0 is the nearest; the mean is not normalised again. Exact on a plane; far from the cloud it is no true
    distance. points: (n, 3), cloud and unit normals: (m, 3) → (n,).
    """
    neighbours = nearest_points(points, cloud, 3)[1]
    mean = normals[neighbours].mean(axis=1)  # (n, 3)
    out: Array = ((points - cloud[neighbours[:, 0]]) * mean).sum(axis=1)
    return out


def nearest_points(points: Array, cloud: Array, count: int) -> tuple[Array, Index]:
    """Distances to, and numbers of, the `count` nearest of a cloud, or all it has, nearest first: (n, k) each.

    >>> nearest_points(np.array([[0.0, 0, 0]]), np.array([[3.0, 0, 0], [1, 0, 0]]), 8)[0].tolist()
    [[1.0, 3.0]]
    """
    k = min(count, len(cloud))
    distance, index = point_tree(cloud).query(points, k=k)
    return np.reshape(distance, (len(points), k)), np.reshape(index, (len(points), k)).astype(np.int64)
