"""Evaluating a field in passes of a bounded size, whose values do not depend on how places are grouped."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from alfilter.evaluate.scores import Evaluate
from alfilter.runtime.stages import advance
from alfilter.runtime.thread_pool import parallel_map

POINTS = 1 << 14  # places per pass when nothing is differentiated


_ROWS = 64  # passes are padded to a multiple: matrix products of a few rows round differently


def in_passes(field: Evaluate, total: int, places: Callable[[int, int], Tensor]) -> Tensor:
    """The values (total, c) of a field at places that are made a pass at a time, on all cores.

    places: coordinates (n, d) of the places `first` to `first + n`, asked as places(first, n).
    """

    def run(first: int) -> Tensor:
        count = min(POINTS, total - first)
        x = places(first, count)
        padding = -count % _ROWS
        padded = torch.cat((x, x[-1:].expand(padding, -1))) if padding else x
        with torch.inference_mode():
            values = field(padded)[:count].cpu()
        advance(count)
        return values

    return torch.cat(parallel_map(run, range(0, total, POINTS)))
