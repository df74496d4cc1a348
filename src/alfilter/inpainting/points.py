"""Values between scattered points: local splines, the kind of which is chosen by points held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.config import Density
from alfilter.runtime.thread_pool import flushed_denormals

Array = NDArray[np.float64]

_NEIGHBOURS = 32  # points a local spline sees
_PLACES = 4  # near every point
_MOST = 1 << 14  # places near points at most
_JUDGES = 1 << 12  # points held back at most
_BACK = 0.1
# kernels whose splines are averaged, and their smoothing where the points are a unit apart
_KINDS: tuple[tuple[tuple[str, ...], float], ...] = (
    (("thin_plate_spline",), 0.0),
    (("thin_plate_spline", "cubic"), 0.0),
    (("linear",), 0.0),
    (("thin_plate_spline",), 0.3),
    (("thin_plate_spline",), 1.0),
    (("thin_plate_spline",), 10.0),
)


def places_between(points: Array) -> Array:
    """Places in [-1, 1]^d to fill: the nodes of a lattice with 16 for every point, and places near the points.

    A grid of features whose nodes are those of the lattice holds what is filled there exactly; the others say more
    where points are dense. points: (n, d) → (m, d). The same points give the same places.
    """
    count, dims = points.shape
    axis = np.linspace(-1, 1, Density.of(dims, count, count).lattice)
    nodes = np.stack(np.meshgrid(*[axis] * dims, indexing="ij"), axis=-1).reshape(-1, dims)
    return np.concatenate((nodes, near_places(points)))


@flushed_denormals(False)  # a tree of points never ends where the number next to 0 is 0
def near_places(points: Array) -> Array:
    """Places as dense as the points: a random point, moved by about the distance to its neighbours.

    points: (n, d) → (4 n, d), at most 16,384, in the points' own box.
    """
    from scipy.spatial import cKDTree

    count, dims = points.shape
    draw = np.random.default_rng(0)
    picked = draw.integers(count, size=min(_PLACES * count, _MOST))
    near = min(2 * dims, count - 1)
    if near < 1:
        return np.asarray(points[picked], dtype=np.float64)
    reach, _ = cKDTree(points).query(points[picked], near + 1)
    moved = points[picked] + draw.standard_normal((len(picked), dims)) * reach[:, -1:] / np.sqrt(dims)
    return np.asarray(np.clip(moved, points.min(0), points.max(0)), dtype=np.float64)


def spread(points: Array, values: Array, places: Array, weights: Array | None = None) -> Array:
    """Values (m, c) at places (m, d): radial basis functions on the 32 nearest points, duplicates averaged.

    Thin plates, their mean with cubics, or the linear kernel, exact on the points or smoothed: whichever best predicts
    a tenth of the points from the others. points: (n, d). values: (n, c). weights: (n,) above 0; what weighs little is
    smoothed much, as one over its weight, and has little say in the choice.

    >>> square = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
    >>> float(spread(square, square[:, :1], np.array([[0.5, 0.0]])).round(6)[0, 0])
    0.5
    """
    points, values, weights = _merged(points, values, np.ones(len(points)) if weights is None else weights)
    if len(points) <= points.shape[1] + 1 or np.linalg.matrix_rank(points - points.mean(0)) < points.shape[1]:
        return _nearest(points, values, places)  # too few, or all on a line: a plane cannot be fitted to them
    order = np.random.default_rng(0).permutation(len(points))
    back = order[: min(round(_BACK * len(points)), _JUDGES)]
    rest = np.delete(order, np.arange(len(back)))
    if len(back) < 10:
        return _splines(points, values, weights, places, *_KINDS[0])

    def error(kind: tuple[tuple[str, ...], float]) -> float:
        predicted = _splines(points[rest], values[rest], weights[rest], points[back], *kind)
        return float(np.mean(weights[back, None] * (predicted - values[back]) ** 2))

    return _splines(points, values, weights, places, *min(_KINDS, key=error))


@flushed_denormals(False)
def _splines(
    points: Array, values: Array, weights: Array, places: Array, kernels: tuple[str, ...], smoothing: float
) -> Array:
    from scipy.interpolate import RBFInterpolator

    options: Any = {"neighbors": min(_NEIGHBOURS, len(points)), "smoothing": smoothing * weights.mean() / weights}
    spacing = float(np.prod(np.ptp(points, axis=0)) / len(points)) ** (1 / points.shape[1])
    points, places = points / spacing, places / spacing  # so that a smoothing means the same for few points and many
    try:
        interpolated = np.mean(
            [RBFInterpolator(points, values, kernel=name, **options)(places) for name in kernels], axis=0
        )
    except np.linalg.LinAlgError:  # some neighbourhood lies on a line
        return _nearest(points, values, places)
    low, high = values.min(0), values.max(0)
    margin = (high - low) / 4  # a nearly singular system may say anything
    return np.asarray(np.clip(interpolated, low - margin, high + margin), dtype=np.float64)


@flushed_denormals(False)
def _nearest(points: Array, values: Array, places: Array) -> Array:
    from scipy.spatial import cKDTree

    _, index = cKDTree(points).query(places)
    return np.asarray(values[index], dtype=np.float64)


def _merged(points: Array, values: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Every place once, with the weighted mean of its values and the sum of its weights."""
    once, where = np.unique(points, axis=0, return_inverse=True)
    total, weight = np.zeros((len(once), values.shape[1])), np.zeros(len(once))
    np.add.at(total, where.reshape(-1), values * weights[:, None])
    np.add.at(weight, where.reshape(-1), weights)
    return once, total / weight[:, None], weight
