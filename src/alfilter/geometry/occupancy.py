"""Which points of a regular grid lie inside a closed mesh: a ray along the last axis for every column at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from alfilter.geometry.points import Array, Index

_AT_ONCE = 1 << 21  # columns processed at once


def occupied(vertices: Array, faces: Index, axes: tuple[Array, Array, Array]) -> NDArray[np.bool_]:
    """The grid's points with a positive winding number, counted along rays: (n_1, n_2, n_3).

    A ray upwards from a point leaves the body where the surface's normal points up (+1) and enters it where the normal
    points down (-1); inside the sum is 1. Exact for closed, outward meshes; overlapping bodies count as their union.
    Columns are moved by a millionth of their spacing, so that none of them hits an edge.

    >>> grid = (np.linspace(-2, 2, 5),) * 3
    >>> corners = np.array([[x, y, z] for x in (-1.5, 1.5) for y in (-1.5, 1.5) for z in (-1.5, 1.5)])
    >>> sides = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    ...          [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    >>> int(occupied(corners, np.array(sides), grid).sum())
    27
    """
    x, y, z = axes
    steps = [float(np.diff(axis).min()) if len(axis) > 1 else 1.0 for axis in (x, y)]
    x, y = x + 0.7548776662e-6 * steps[0], y + 0.5698402910e-6 * steps[1]
    corners = vertices[faces]  # (m, 3, 3)
    first = np.stack([np.searchsorted(a, corners[:, :, k].min(axis=1)) for k, a in enumerate((x, y))], 1)
    last = np.stack([np.searchsorted(a, corners[:, :, k].max(axis=1), side="right") for k, a in enumerate((x, y))], 1)
    size = last - first  # columns in each face's box
    count = size[:, 0] * size[:, 1]
    turns = np.zeros((len(x), len(y), len(z) + 1), np.int32)
    ends = np.cumsum(count)
    begin = 0
    while begin < len(faces):  # as many faces as fit, at least one
        limit = (ends[begin - 1] if begin else 0) + _AT_ONCE
        end = max(begin + 1, int(np.searchsorted(ends, limit, side="right")))
        chosen = np.arange(begin, end)
        _cross(turns, corners, (x, y, z), np.repeat(chosen, count[chosen]), first, size, count)
        begin = end
    above = np.cumsum(turns[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]  # crossings above each point
    return above > 0


def _cross(
    turns: NDArray[np.int32], corners: Array, axes: tuple[Array, Array, Array], face: Index,
    first: Index, size: Index, count: Index,
) -> None:  # fmt: skip
    """Add the crossings of the columns in the boxes of some faces; `face` names each column's face."""
    if len(face) == 0:
        return
    x, y, z = axes
    place = np.arange(len(face)) - np.repeat(np.cumsum(count[face[_starts(face)]]) - count[face[_starts(face)]],
                                             count[face[_starts(face)]])  # fmt: skip
    i = first[face, 0] + place // size[face, 1]
    j = first[face, 1] + place % size[face, 1]
    a, b, c = (corners[face, k] for k in range(3))
    px, py = x[i], y[j]
    wa = (b[:, 0] - px) * (c[:, 1] - py) - (b[:, 1] - py) * (c[:, 0] - px)
    wb = (c[:, 0] - px) * (a[:, 1] - py) - (c[:, 1] - py) * (a[:, 0] - px)
    wc = (a[:, 0] - px) * (b[:, 1] - py) - (a[:, 1] - py) * (b[:, 0] - px)
    up, down = (wa > 0) & (wb > 0) & (wc > 0), (wa < 0) & (wb < 0) & (wc < 0)
    hit = up | down
    total = (wa + wb + wc)[hit]
    height = (wa[hit] * a[hit, 2] + wb[hit] * b[hit, 2] + wc[hit] * c[hit, 2]) / total
    k = np.searchsorted(z, height)  # the points 0 … k-1 are below the crossing
    np.add.at(turns, (i[hit], j[hit], k), np.where(up[hit], 1, -1).astype(np.int32))


def _starts(face: Index) -> Index:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.r_[True, face[1:] != face[:-1]])
