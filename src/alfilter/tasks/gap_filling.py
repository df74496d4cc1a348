"""What a fit learns between its samples: values made from the seen samples alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from alfilter.inpainting.grid import bands, chosen, fill, gap_of
from alfilter.inpainting.planes import MOST_FILLED, fill_planes, plane_axes
from alfilter.inpainting.points import places_between, spread
from alfilter.signals import GridSignal
from alfilter.tasks.base import Chunk, EpochSampler


class Filling:
    """Places (n, d) between the samples and the values (n, c) expected there."""

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x, self.y = x, y
        self._sampler = EpochSampler(len(x))

    def pieces(self, step: int, seed: int, batch: int, micro: int) -> Sequence[Tensor]:
        """Rows of a step: `batch` of them, or all where there are no more. A pure function of its arguments."""
        count = len(self.x)
        rows = torch.arange(count) if batch >= count else self._sampler.index(step, seed ^ 0xF111, batch)
        return torch.split(rows, micro)

    def load(self, piece: Tensor) -> Chunk:
        """Coordinates (n, d) and values (n, c)."""
        return self.x.index_select(0, piece), self.y.index_select(0, piece)


def grid_filling(signal: GridSignal, seen: Tensor) -> Filling | None:
    """The unseen samples of a grid, filled along edges, or along motion where whole planes are unseen.

    Of the signal's values only the seen (n,) are read.

    None where the bands that are filled of a huge grid have nothing seen.
    """
    mask = np.zeros(len(signal), bool)
    mask[seen.numpy()] = True
    mask = mask.reshape(signal.shape)
    row = prod(signal.shape[1:])
    rows, values = [], []
    kind, axes = None, plane_axes(mask)
    for read, inner in bands(signal.shape, gap_of(mask), MOST_FILLED if axes else None):
        part = mask[read]
        if not part.any():
            continue  # nothing is known here
        index = torch.from_numpy(np.flatnonzero(part)) + read.start * row
        known = np.zeros((part.size, signal.out_dim), np.float32)
        known[part.reshape(-1)] = signal.values(index).numpy()
        known = known.reshape(*part.shape, signal.out_dim)
        if axes:
            whole = fill_planes(known, part, axes)
        else:
            kind = kind or chosen(known, part)  # the first band decides for all
            whole = fill(known, part, kind)
        filled = whole[inner.start - read.start :][: inner.stop - inner.start]
        unseen = np.flatnonzero(~mask[inner])
        rows.append(torch.from_numpy(unseen) + inner.start * row)
        values.append(torch.from_numpy(filled.reshape(-1, signal.out_dim)[unseen]))
    if not rows:
        return None
    index = torch.cat(rows)
    return Filling(signal.coords(index), torch.cat(values))


def point_filling(x: Tensor, y: Tensor, weight: Tensor) -> Filling:
    """Places between and near the points, with values of local splines. x: (n, d). y: (n, c). weight: (n,)."""
    at, values = x.double().numpy(), y.double().numpy()
    places = places_between(at)
    filled = torch.from_numpy(spread(at, values, places, weight.double().numpy())).float()
    return Filling(torch.from_numpy(places).float(), filled)
