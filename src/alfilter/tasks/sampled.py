"""A task with a fixed set of seen samples: how a step is cut out of them. Grids and scattered points are such tasks."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from alfilter.tasks.base import EpochSampler, Task
from alfilter.tasks.gap_filling import Filling

_FEW = 4096  # samples that a step can use without waste


class SampledTask(Task):
    """Seen samples 0 … count-1, whose values run from 0 to 1; a step takes all of them or the next batch of an epoch.

    count: how many samples are seen. seen: their positions among all samples; none when all are.
    """

    count: int
    seen: Tensor | None

    def __init__(self, count: int, seen: Tensor | None) -> None:
        self.count, self.seen = count, seen
        self._sampler = EpochSampler(count)
        self._filling: Filling | None = None

    def filling(self) -> Filling | None:
        if self._filling is None and self.has_gaps:
            self._filling = self.filling_of(torch.arange(self.count))
        return self._filling

    @abstractmethod
    def filling_of(self, rows: Tensor) -> Filling | None:
        """The filling that some of the seen samples alone would give."""

    def default_batch(self) -> int | None:
        """All of few samples, else a 32nd of them, from 4,096 to 16,384."""
        return None if self.count <= _FEW else min(max(self.count // 32, _FEW), 4 * _FEW)

    def batch_size(self, batch: int | None) -> int:
        return self.count if batch is None else min(batch, self.count)

    def pieces(self, step: int, seed: int, batch: int | None, micro: int) -> Sequence[slice | Tensor]:
        size = self.batch_size(batch)
        cuts = [slice(begin, min(begin + micro, size)) for begin in range(0, size, micro)]
        if size == self.count:
            return cuts
        index = self._sampler.index(step, seed, size)
        return [index[cut] for cut in cuts]

    def output_range(self) -> tuple[Tensor, Tensor]:
        return torch.zeros(self.out_dim), torch.ones(self.out_dim)

    def quality(self, loss: float) -> float:
        return -10 * math.log10(max(loss, 1e-20))
