"""How close two surfaces are: Chamfer with its floor, IoU, normals, the worst distance.

Every length is in the units of the meshes. Chamfer in this literature sits at the noise of its own
sampling: with N points on an area A the reference against itself gives about 2A/(πN), never zero. That floor is
measured and returned beside every Chamfer; only the part above it says something about the surface.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alfilter.geometry.distance import MeshDistance
from alfilter.geometry.occupancy import occupied
from alfilter.geometry.points import Array, Index, point_tree
from alfilter.geometry.repair import Triangles, face_normals
from alfilter.runtime.stages import advance, stage
from alfilter.runtime.thread_pool import workers

POINTS = 300_000
GRID = 256
_BATCH = 1 << 20
_SEARCHED = 1 << 15  # queries of a tree between two looks at the progress
_AT_ONCE = 1 << 12  # exact distances computed at once in the search for the largest


def compare(
    surface: Triangles,
    reference: Triangles,
    *,
    points: int = POINTS,
    grid: int = GRID,
    closed: bool = True,
    seed: int = 0,
) -> dict[str, float]:
    """All scores of a surface against a reference: chamfer, chamfer_half, chamfer_floor, iou, normals, hausdorff.

    points: samples of each surface, uniform by area. grid: points of the IoU's grid along the longest side of the box.
    closed: whether the reference is watertight; if not, its inside is taken from the winding number, which is slower.
    """
    with stage("scoring the surface", 4 * points + len(surface.vertices) + len(reference.vertices)):
        return _compare(surface, reference, points, grid, closed, seed)


def _compare(
    surface: Triangles, reference: Triangles, points: int, grid: int, closed: bool, seed: int
) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    ours, ours_normals = surface_samples(surface, points, rng)
    theirs, theirs_normals = surface_samples(reference, points, rng)
    again, _ = surface_samples(reference, points, rng)
    on_ours, on_theirs = Samples(ours), Samples(theirs)
    there, there_index = on_ours.nearest(theirs)
    back, back_index = on_theirs.nearest(ours)
    both = np.concatenate([
        np.abs((theirs_normals * ours_normals[there_index]).sum(axis=1)),
        np.abs((ours_normals * theirs_normals[back_index]).sum(axis=1)),
    ])  # fmt: skip
    total = chamfer(there, back)
    return {
        "chamfer": total,
        "chamfer_half": total / 2,
        "chamfer_floor": chamfer(nearest(theirs, again)[0], on_theirs.nearest(again)[0]),
        "iou": iou(surface, reference, grid, closed),
        "normals": float(both.mean()),
        "hausdorff": max(  # the worst distance of samples and vertices of one surface to the other surface itself
            _farthest(ours, back, surface.vertices, on_theirs, reference),
            _farthest(theirs, there, reference.vertices, on_ours, surface),
        ),
    }


def chamfer(there: Array, back: Array) -> float:
    """mean d² one way + mean d² the other way, of nearest distances (n,) and (m,).

    The sum of squares, as in BACON's, ACORN's and FINER's numbers; half of it is the Occupancy Networks' "Chamfer-L2".

    >>> chamfer(np.array([1.0, 1.0]), np.array([2.0]))
    5.0
    """
    return float((there**2).mean() + (back**2).mean())


def nearest(queries: Array, points: Array) -> tuple[Array, Index]:
    """The distance to, and the number of, the nearest of `points` for every query."""
    return Samples(points).nearest(queries)


class Samples:
    """Points that are searched more than once: their tree is built once, and queries are shared among the cores."""

    def __init__(self, points: Array) -> None:
        self._tree = point_tree(points, far=True)  # the field's surface may close a hole of the reference

    def nearest(self, queries: Array) -> tuple[Array, Index]:
        """The distance to, and the number of, the nearest sample for every query."""
        distance, index = np.empty(len(queries)), np.empty(len(queries), dtype=np.int64)
        for k in range(0, len(queries), _SEARCHED):
            part = slice(k, k + _SEARCHED)
            distance[part], index[part] = self._tree.query(queries[part], workers=workers())
            advance(len(queries[part]))
        return distance, index


def surface_samples(mesh: Triangles, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points (count, 3) uniform by area and the unit normals of their faces."""
    across = face_normals(mesh.vertices, mesh.faces)
    area = np.linalg.norm(across, axis=1)
    share = np.cumsum(area) / area.sum()
    face = np.minimum(np.searchsorted(share, rng.random(count), side="right"), len(share) - 1)
    u, v = np.sqrt(rng.random(count)), rng.random(count)
    a, b, c = (mesh.vertices[mesh.faces[face, k]] for k in range(3))
    points = (1 - u)[:, None] * a + (u * (1 - v))[:, None] * b + (u * v)[:, None] * c
    return points, across[face] / area[face][:, None]


def iou(surface: Triangles, reference: Triangles, grid: int = GRID, closed: bool = True) -> float:
    """Volume of the intersection over volume of the union, on a grid of cubes over the box of both surfaces.

    The grid covers the shapes and nothing else: over a larger box the same number of points would see less of them.
    """
    both = np.concatenate([surface.vertices, reference.vertices])
    low, high = both.min(axis=0), both.max(axis=0)
    step = float((high - low).max()) / grid
    x, y, z = (low[k] + step * (np.arange(max(1, int(np.ceil((high[k] - low[k]) / step)))) + 0.5) for k in range(3))
    ours = occupied(surface.vertices, surface.faces, (x, y, z))
    theirs = occupied(reference.vertices, reference.faces, (x, y, z)) if closed else _wound(reference, (x, y, z))
    joint = int((ours | theirs).sum())
    return float((ours & theirs).sum() / joint) if joint else 1.0


def _wound(mesh: Triangles, axes: tuple[Array, Array, Array]) -> NDArray[np.bool_]:
    """Inside by the winding number, for meshes with holes."""
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    near = MeshDistance(mesh.vertices, mesh.faces)
    inside = np.empty(len(points), dtype=np.bool_)
    with stage("telling inside from outside", len(points)):
        for k in range(0, len(points), _BATCH):
            part = slice(k, k + _BATCH)
            inside[part] = near.winding(points[part]) > 0.5
            advance(len(points[part]))
    return inside.reshape([len(axis) for axis in axes])


def _farthest(points: Array, distances: Array, vertices: Array, samples: Samples, mesh: Triangles) -> float:
    """max_q min_p |q - p| over the mesh, for points whose distances to its samples are known, and for vertices.

    samples: of the mesh; the nearest one bounds a query's distance from above. Exact distances are
    taken from the greatest bound downwards, until no bound can beat the greatest so far.
    """
    queries = np.concatenate([points, vertices])
    bound = np.concatenate([distances, samples.nearest(vertices)[0]])
    order = np.argsort(-bound)
    near, worst = MeshDistance(mesh.vertices, mesh.faces), 0.0
    for k in range(0, len(order), _AT_ONCE):
        part = order[k : k + _AT_ONCE]
        if bound[part[0]] <= worst:
            break
        worst = max(worst, float(near.unsigned(queries[part]).max()))
    return worst
