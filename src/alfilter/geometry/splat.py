"""A shaded picture of a surface by splatting many of its points: no graphics library, any number of faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LIGHT = np.array([-0.4, 0.55, 0.73])
TINT = np.array([0.72, 0.78, 0.86])
REACH = 1.35  # half the side of the window that shows the whole domain [-1, 1]³, turned


def splat(
    points: Array,
    normals: Array,
    size: int = 480,
    *,
    turn: float = 0.45,
    tilt: float = 0.2,
    centre: tuple[float, float] = (0.0, 0.0),
    reach: float = REACH,
    point_size: int = 1,
    tints: Array = TINT,
) -> Array:
    """A picture (size, size, 3) in [0, 1] of points (n, 3) with unit normals, seen along the third axis.

    The nearest point of each pixel is painted; what faces away is left out. turn, tilt: radians about the second and
    the first axis. centre, reach: middle and half side of the window, in the turned frame, right and up. point_size:
    side of the square that a point paints, in pixels, so that an enlarged part has no holes. tints: one colour (3,),
    or one for every point (n, 3).
    """
    c, s = np.cos(turn), np.sin(turn)
    d, t = np.cos(tilt), np.sin(tilt)
    rotation = np.array([[1, 0, 0], [0, d, -t], [0, t, d]]) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    points, normals = points @ rotation.T, normals @ rotation.T
    across = (points[:, :2] - centre) / reach
    shown = (normals[:, 2] > 0) & (np.abs(across) <= 1).all(axis=1)
    points, normals, across = points[shown], normals[shown], across[shown]
    order = np.argsort(points[:, 2], kind="stable")  # the nearest is painted last
    marks = (
        np.stack(np.meshgrid(np.arange(point_size), np.arange(point_size)), axis=-1).reshape(-1, 2) - point_size // 2
    )
    pixel = ((across[order] + 1) / 2 * size).astype(np.int64)[:, None] + marks  # (n, point_size², 2)
    pixel = np.clip(pixel, 0, size - 1).reshape(-1, 2)
    shade = np.repeat(0.18 + 0.82 * np.clip(normals[order] @ LIGHT, 0, 1), len(marks))
    tint = np.repeat(np.broadcast_to(tints, (*shown.shape, 3))[shown][order], len(marks), axis=0)
    picture = np.ones((size, size, 3))
    picture[size - 1 - pixel[:, 1], pixel[:, 0]] = shade[:, None] * tint
    return picture
