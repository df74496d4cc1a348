"""The surface of a field of distances."""

from __future__ import annotations

from alfilter.evaluate.sampling import distances_at
from alfilter.evaluate.scores import Evaluate
from alfilter.geometry.strays import Clearance, without_strays
from alfilter.geometry.surface import Surface, extract


def surface_of(field: Evaluate, resolution: int, clearance: Clearance | None = None) -> Surface:
    """{f = 0} in the domain on a grid of `resolution` vertices along each axis.

    clearance: where the shape is not; bodies of the surface that are there are left out.

    >>> surface_of(lambda x: x.norm(dim=-1, keepdim=True) - 0.5, 16).strays
    0
    """
    return without_strays(extract(lambda points: distances_at(field, points), resolution), clearance)
