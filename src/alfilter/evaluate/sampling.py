"""A field's values on grids, at every combination of coordinates along axes, at scattered places; its surface.

Places are evaluated in passes of a bounded size; the value at a place does not depend on which others are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.evaluate.scores import Evaluate, evaluator
from alfilter.geometry.strays import Clearance, without_strays
from alfilter.geometry.surface import Surface, extract
from alfilter.runtime.stages import advance
from alfilter.runtime.thread_pool import parallel_map

POINTS = 1 << 14  # places per pass when nothing is differentiated
_ROWS = 64  # passes are padded to a multiple: matrix products of a few rows round differently


def sample_grid(field: Evaluate, shape: tuple[int, ...]) -> Tensor:
    """A field's values on the samples of a grid over the domain: (*shape, c)."""
    return sample_axes(field, [axis_coords(n, 0, n - 1, n) for n in shape])


def axis_coords(count: int, first: float, last: float, samples: int) -> Tensor:
    """Coordinates (count,) of places spread evenly from sample `first` to sample `last` of an axis with `samples`.

    float64 until the one rounding at the end, so a place that is a sample gets the very coordinate it was fitted at.

    >>> axis_coords(3, 0, 1, samples=3).tolist()
    [-1.0, -0.5, 0.0]
    """
    steps = torch.arange(count, dtype=torch.float64) if count > 1 else torch.tensor([0.5], dtype=torch.float64)
    places = first + (last - first) * steps / max(1, count - 1)
    return ((2 * places - (samples - 1)) / max(1, samples - 1)).float()


def sample_axes(field: Evaluate, axes: Sequence[Tensor]) -> Tensor:
    """A field's values at every combination of the coordinates of the axes: (n_1, ..., n_d, c)."""
    shape = [len(axis) for axis in axes]

    def places(first: int, count: int) -> Tensor:
        flat = torch.arange(first, first + count)
        columns: list[Tensor] = []
        for axis in reversed(axes):
            columns.insert(0, axis[flat % len(axis)])
            flat = flat // len(axis)
        return torch.stack(columns, dim=-1)

    total = math.prod(shape)
    values = in_passes(field, total, places) if total else sample_points(field, torch.zeros(0, len(shape)))
    return values.view(*shape, values.shape[-1])


def sample_points(field: Evaluate, x: Tensor) -> Tensor:
    """A field's values (n, c) at places x (n, d); a value depends on its place alone.

    >>> sample_points(lambda x: 2 * x, torch.tensor([[1.0], [3.0]])).tolist()
    [[2.0], [6.0]]
    """
    if not len(x):
        with torch.inference_mode():
            return evaluator(field)(x.new_zeros(1, x.shape[-1]))[:0].cpu()  # which says how many numbers a value has
    return in_passes(field, len(x), lambda first, count: x[first : first + count])


def distances_at(field: Evaluate, points: NDArray[Any]) -> NDArray[np.float32]:
    """A field's first value at points (n, 3) of numpy's: (n,), as `geometry.surface` asks for distances."""
    x = torch.from_numpy(np.array(points, dtype=np.float32))  # a copy: what comes may be read-only
    return sample_points(field, x)[:, 0].float().numpy()


def surface_of(field: Evaluate, resolution: int, clearance: Clearance | None = None) -> Surface:
    """{f = 0} in the domain on a grid of `resolution` vertices along each axis.

    clearance: where the shape is not; bodies of the surface that are there are left out.

    >>> surface_of(lambda x: x.norm(dim=-1, keepdim=True) - 0.5, 16).strays
    0
    """
    return without_strays(extract(lambda points: distances_at(field, points), resolution), clearance)


def in_passes(field: Evaluate, total: int, places: Callable[[int, int], Tensor]) -> Tensor:
    """The values (total, c) of a field at places that are made a pass at a time, on all cores.

    places: coordinates (n, d) of the places `first` to `first + n`, asked as places(first, n).
    """
    values_of = evaluator(field)

    def run(first: int) -> Tensor:
        count = min(POINTS, total - first)
        x = places(first, count)
        padding = -count % _ROWS
        padded = torch.cat((x, x[-1:].expand(padding, -1))) if padding else x
        with torch.inference_mode():
            values = values_of(padded)[:count].cpu()
        advance(count)
        return values

    return torch.cat(parallel_map(run, range(0, total, POINTS)))
