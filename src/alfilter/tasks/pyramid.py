"""Levels of detail: the area means of a grid signal at 1/2, 1/4, … of its resolution, as samples to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from alfilter.signals import GridSignal
from alfilter.tasks.base import EpochSampler

OCTAVES = 3  # 1/2, 1/4, 1/8
_SHARE = 4  # a step sees a quarter as many area means as samples
_SMALLEST = 4  # samples per axis of the coarsest level


class Pyramid:
    """Area means (n, c) of a signal, the centres (n, d) of their areas, and the most cycles (n,) they can tell apart.

    The level of 1/2^k has m samples along the longest axis and tells m/2 cycles across the domain. counts: samples of
    every level, fine to coarse.
    """

    def __init__(self, x: Tensor, y: Tensor, cycles: Tensor, counts: Sequence[int]) -> None:
        self.x, self.y, self.cycles = x, y, cycles
        self._starts = [sum(counts[:level]) for level in range(len(counts))]
        self._samplers = [EpochSampler(count) for count in counts]

    @property
    def octaves(self) -> int:
        """How often the resolution is halved."""
        return len(self._samplers)

    def pieces(self, step: int, seed: int, batch: int, micro: int) -> Sequence[Tensor]:
        """Rows of a step, as many of every level or all it has: a pure function of its arguments."""
        each = max(1, batch // _SHARE // len(self._samplers))
        rows = [
            start + sampler.index(step, seed ^ (0xA1EA + level), min(each, sampler.count))
            for level, (start, sampler) in enumerate(zip(self._starts, self._samplers, strict=True))
        ]
        return torch.split(torch.cat(rows), micro)

    def load(self, piece: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Coordinates (n, d), area means (n, c) and cycles (n,)."""
        return (
            self.x.index_select(0, piece),
            self.y.index_select(0, piece),
            self.cycles.index_select(0, piece),
        )


def area_mean(values: Tensor) -> Tensor:
    """The mean over cells of two samples along every axis but the last; a ragged rim is dropped. (..., c) → (.../2, c).

    >>> area_mean(torch.arange(8.0).view(2, 4, 1)).flatten().tolist()
    [2.5, 4.5]
    """
    for axis in range(values.dim() - 1):
        pairs = values.narrow(axis, 0, values.shape[axis] // 2 * 2)
        values = torch.unflatten(pairs, axis, (-1, 2)).mean(axis + 1)
    return values


def pyramid(signal: GridSignal) -> Pyramid | None:
    """The levels of detail of a signal; none where it is too small to have any."""
    shape, dims = signal.shape, signal.in_dim
    values = signal.values().view(*shape, signal.out_dim)
    places = signal.coords().view(*shape, dims)
    x, y, cycles, counts = [], [], [], []
    for _ in range(OCTAVES):
        if min(values.shape[:-1]) < 2 * _SMALLEST:
            break
        values, places = area_mean(values), area_mean(places)  # the mean of an area's places is its centre
        count = places[..., 0].numel()
        x.append(places.reshape(count, dims))
        y.append(values.reshape(count, -1))
        cycles.append(torch.full((count,), max(values.shape[:-1]) / 2))
        counts.append(count)
    return Pyramid(torch.cat(x), torch.cat(y), torch.cat(cycles), counts) if counts else None
