"""A field's values on grids and at every combination of coordinates along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from alfilter.evaluate.passes import in_passes
from alfilter.evaluate.scores import Evaluate


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
    """A field's values at every combination of the coordinates of the axes: (n_1, ..., n_d, c).

    Places are evaluated in passes of a bounded size, so any picture can be written that fits in memory itself; the
    value at a place does not depend on which other places are asked for.
    """
    shape = [len(axis) for axis in axes]
    total = math.prod(shape)
    device = next(field.parameters()).device if isinstance(field, nn.Module) else torch.device("cpu")

    def places(first: int, count: int) -> Tensor:
        flat = torch.arange(first, first + count)
        columns: list[Tensor] = []
        for axis in reversed(axes):
            columns.insert(0, axis[flat % len(axis)])
            flat = flat // len(axis)
        return torch.stack(columns, dim=-1).to(device)

    return in_passes(field, total, places).view(*shape, -1)
