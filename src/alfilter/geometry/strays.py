"""Stray bodies: parts of a field's surface that lie where the shape's own distances say there is none.

A field is trained on samples, and between them it may cross zero where nothing is. A distance is 1-Lipschitz, so what
is known at nodes p_i bounds it everywhere:

    |d(x)| ≥ max_i |d(p_i)| - |x - p_i|.

A coarse grid of distances (`Clearance`), small enough for a model file, so proves most of space empty: of random points
2 % of the shape's size away from a scan, nineteen of twenty. A connected body of the surface whose vertices are mostly
proven to be off the shape is a stray.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.geometry.surface import Surface

Array = NDArray[np.float64]

NODES = 32  # per axis: 0.4 s for a scan of 100,000 faces, about 30 kB in a model file
_STEP = 1 / 254  # of the stored distances, in the domain's units; they end at 127 of them
_MARGIN = 0.008  # how far off a vertex must be proven to be: a fitted surface is nowhere exactly the shape's
_ASKED = 1000  # vertices of a body that are looked at
_MOST = 64  # nodes per axis of a file


@dataclass(frozen=True)
class Clearance:
    """Signed distances of a shape on a grid over [-1, 1]³, rounded towards zero. values: (N, N, N) int8."""

    values: NDArray[np.int8]

    @classmethod
    def measure(cls, distance: Callable[[Array], Array], nodes: int = NODES) -> Clearance:
        """The distances that `distance`, of points (n, 3), gives; none of them greater than the true ones.

        >>> ball = Clearance.measure(lambda p: np.linalg.norm(p, axis=1) - 0.5, 16)
        >>> bool(ball.at_least(np.array([[0.9, 0.0, 0.0]]))[0] > 0.3), float(ball.at_least(np.array([[0.5, 0, 0]]))[0])
        (True, 0.0)
        """
        axis = np.linspace(-1, 1, nodes)
        places = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
        steps = np.clip(np.trunc(distance(places) / _STEP), -127, 127)
        return cls(steps.astype(np.int8).reshape((nodes,) * 3))

    def at_least(self, points: Array) -> Array:
        """How far from the shape points (n, 3) are at least: (n,), zero where nothing is proven.

        Nothing is between nodes of both signs: there the shape is, or a hole of it that a field closes.
        """
        last = len(self.values) - 1
        cell = np.clip(((points + 1) / 2 * last).astype(np.int64), 0, last - 1)
        bound, signs = np.zeros(len(points)), np.zeros(len(points))
        for offset in np.ndindex(4, 4, 4):
            node = cell + np.array(offset) - 1
            inside = ((node >= 0) & (node <= last)).all(axis=1)
            value = self.values[tuple(np.clip(node, 0, last).T)] * _STEP
            proven = np.abs(value) - np.linalg.norm(points - (2 * node / last - 1), axis=1)
            bound = np.maximum(bound, np.where(inside, proven, 0))
            if all(step in (1, 2) for step in offset):
                signs += np.sign(value)
        return np.where(np.abs(signs) == 8, bound, 0.0)

    def describe(self) -> dict[str, Any]:
        """For a model file: differences along the last axis, packed."""
        data = np.diff(self.values, axis=-1, prepend=np.int8(0)).tobytes()
        return {"nodes": len(self.values), "distances": base64.b64encode(zlib.compress(data, 9)).decode()}

    @classmethod
    def read(cls, facts: Any) -> Clearance | None:
        """What a model file keeps; none where it keeps nothing, as those of earlier versions."""
        if facts is None:
            return None
        damaged = UserError("the model's distances of its shape are damaged; fit it again")
        try:
            nodes, text = facts["nodes"], facts["distances"]
            if not isinstance(nodes, int) or not 2 <= nodes <= _MOST:
                raise damaged
            packed = zlib.decompressobj()
            data = packed.decompress(base64.b64decode(text, validate=True), nodes**3 + 1)
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
            raise damaged from error
        if len(data) != nodes**3:
            raise damaged
        steps = np.cumsum(np.frombuffer(data, np.int8).reshape((nodes,) * 3), axis=-1, dtype=np.int8)
        return cls(steps)


def bodies(vertices: Array, faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the connected body that each vertex belongs to: (n,).

    >>> bodies(np.zeros((7, 3)), np.array([[0, 1, 2], [1, 2, 3], [4, 5, 6]])).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)]])
    edges = coo_array((np.ones(len(ends), bool), ends.T), shape=(len(vertices),) * 2)
    return np.asarray(connected_components(edges, directed=False)[1], dtype=np.int64)


def _some_of_each(body: NDArray[np.int64]) -> NDArray[np.int64]:
    """Vertices of every body, up to `_ASKED` of each: the proof costs more than the surface of a large one."""
    order = np.argsort(body, kind="stable")
    count = np.bincount(body)
    place = np.arange(len(body)) - np.repeat(np.cumsum(count) - count, count)  # of a vertex among those of its body
    chosen: NDArray[np.int64] = order[place % np.repeat(-(-count // _ASKED), count) == 0]
    return chosen


def without_strays(surface: Surface, clearance: Clearance | None) -> Surface:
    """The surface without its stray bodies; if all of them were, the fit is wrong and not they: it stays as it is."""
    if clearance is None:
        return surface
    body = bodies(surface.vertices, surface.faces)
    some = _some_of_each(body)
    off = clearance.at_least(surface.vertices[some]) > _MARGIN
    stray = np.bincount(body[some], weights=off) > np.bincount(body[some]) / 2
    if not stray.any() or stray.all():
        return surface
    is_kept = ~stray[body]
    number = np.cumsum(is_kept) - 1
    return replace(
        surface,
        vertices=surface.vertices[is_kept],
        faces=number[surface.faces[is_kept[surface.faces[:, 0]]]],
        normals=surface.normals[is_kept],
        strays=int(stray.sum()),
    )
