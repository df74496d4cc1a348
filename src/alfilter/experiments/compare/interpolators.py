"""What a field must beat between the samples: the usual interpolators, on grids with gaps and on points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pixels = Callable[[Array, NDArray[np.bool_]], Array]  # (H, W, c), seen (H, W) → (H, W, c)
Points = Callable[[Array, Array, Array], Array]  # places (n, d), values (n, c), queries (m, d) → (m, c)

_NEIGHBOURS = 64  # nearest measurements a radial basis function sees
_PROCESS = 1500  # points a Gaussian process is given: its time grows with their third power


def bicubic(picture: Array, seen: NDArray[np.bool_]) -> Array:
    """Cubic convolution (Keys, a = -1/2) of the samples [::2, ::2], which must be the seen ones; borders repeat."""
    height, width = seen.shape
    if not seen[::2, ::2].all() or seen.sum() != seen[::2, ::2].size:
        raise ValueError("bicubic needs every:2")
    rows = _between(picture[::2, ::2], 0)[:height]
    return _between(rows, 1)[:, :width]


def _between(values: Array, axis: int) -> Array:
    """Values with the ones half-way put in: (-1, 9, 9, -1) / 16."""
    along = np.moveaxis(values, axis, 0)
    padded = np.concatenate([along[:1], along, along[-1:], along[-1:]])
    half = (9 * (padded[1:-2] + padded[2:-1]) - padded[:-3] - padded[3:]) / 16
    out = np.empty((2 * len(along), *along.shape[1:]))
    out[::2], out[1::2] = along, half
    return np.moveaxis(out, 0, axis)


def linear_pixels(picture: Array, seen: NDArray[np.bool_]) -> Array:
    """Linear interpolation on the Delaunay triangles of the seen pixels; outside their hull the nearest."""
    return _scattered(linear_points, picture, seen)


def cubic_pixels(picture: Array, seen: NDArray[np.bool_]) -> Array:
    """Clough and Tocher's piecewise cubics on the same triangles."""
    return _scattered(cubic_points, picture, seen)


def biharmonic(picture: Array, seen: NDArray[np.bool_]) -> Array:
    """scikit-image's inpaint_biharmonic."""
    from skimage.restoration import inpaint_biharmonic

    filled: Array = inpaint_biharmonic(np.where(seen[..., None], picture, 0.0), ~seen, channel_axis=-1)
    return filled


def linear_points(places: Array, values: Array, queries: Array) -> Array:
    """scipy's LinearNDInterpolator; outside the hull the nearest."""
    from scipy.interpolate import LinearNDInterpolator

    return _with_nearest(LinearNDInterpolator(places, values), places, values, queries)


def cubic_points(places: Array, values: Array, queries: Array) -> Array:
    """scipy's CloughTocher2DInterpolator; outside the hull the nearest."""
    from scipy.interpolate import CloughTocher2DInterpolator

    return _with_nearest(CloughTocher2DInterpolator(places, values), places, values, queries)


def radial(places: Array, values: Array, queries: Array) -> Array:
    """scipy's RBFInterpolator: thin plates on the 64 nearest measurements."""
    from scipy.interpolate import RBFInterpolator

    predicted: Array = RBFInterpolator(places, values, neighbors=min(_NEIGHBOURS, len(places)))(queries)
    return predicted


def gaussian_process(places: Array, values: Array, queries: Array) -> Array:
    """scikit-learn's GaussianProcessRegressor, Matérn 3/2 with noise, on 1,500 of the points at most."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    chosen = np.random.default_rng(0).permutation(len(places))[:_PROCESS]
    low, span = places.min(0), np.ptp(places, axis=0)
    kernel = ConstantKernel(1.0) * Matern([0.1] * places.shape[1], (1e-3, 10.0), nu=1.5) + WhiteKernel(1e-3)
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    process.fit((places[chosen] - low) / span, values[chosen])
    parts = [process.predict((part - low) / span) for part in np.array_split(queries, max(1, len(queries) // 5000))]
    return np.concatenate(parts).reshape(len(queries), -1)


PIXELS: dict[str, Pixels] = {
    "bicubic": bicubic,
    "linear (Delaunay)": linear_pixels,
    "cubic (Clough-Tocher)": cubic_pixels,
    "biharmonic": biharmonic,
}
POINTS: dict[str, Points] = {
    "linear (Delaunay)": linear_points,
    "cubic (Clough-Tocher)": cubic_points,
    "radial basis functions": radial,
    "Gaussian process": gaussian_process,
}


def _with_nearest(interpolate: Any, places: Array, values: Array, queries: Array) -> Array:
    from scipy.interpolate import NearestNDInterpolator

    predicted: Array = np.asarray(interpolate(queries), dtype=np.float64)
    missing = np.isnan(predicted).any(1)
    if missing.any():
        predicted[missing] = NearestNDInterpolator(places, values)(queries[missing])
    return predicted


def _scattered(points: Points, picture: Array, seen: NDArray[np.bool_]) -> Array:
    places, everywhere = np.argwhere(seen).astype(np.float64), np.argwhere(np.ones_like(seen)).astype(np.float64)
    filled = points(places, picture[seen], everywhere).reshape(picture.shape)
    filled[seen] = picture[seen]
    return filled
