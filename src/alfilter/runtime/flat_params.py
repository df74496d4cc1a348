"""Many tensors in one flat buffer, so that an operation on every number is one call instead of one per tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from torch import Tensor

from alfilter.runtime.memory import huge_page_zeros

_CACHE_LINE = 16  # float32 numbers: every tensor starts on a cache line


class FlatLayout:
    """Where tensors of these shapes lie in one flat buffer.

    >>> layout = FlatLayout([torch.zeros(3), torch.zeros(2, 2)])
    >>> layout.starts, layout.total
    ([0, 16], 32)
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.shapes = [t.shape for t in tensors]
        ends = list(accumulate(-(-t.numel() // _CACHE_LINE) * _CACHE_LINE for t in tensors))
        self.starts, self.total = [0, *ends][: len(tensors)], ends[-1] if ends else 0

    def views(self, flat: Tensor) -> list[Tensor]:
        """The tensors as views of a buffer (total,)."""
        return [
            flat[start : start + shape.numel()].view(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


def flat_zeros(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Zeros of the same shapes, in one buffer."""
    layout = FlatLayout(tensors)
    if not tensors:
        return []
    own = tensors[0]
    plain = own.dtype == torch.float32 and own.device.type == "cpu"
    return layout.views(huge_page_zeros(layout.total) if plain else own.new_zeros(layout.total))


def coalesce(rows: Sequence[Sequence[Tensor]]) -> Iterator[tuple[Tensor, ...]]:
    """The tensors of every row, flat; consecutive rows become one if all their tensors are adjacent in memory.

    Neighbours may be apart by less than a cache line, by the same distance in all columns: what is done to a coalesced
    run is also done to the numbers in its gaps.

    >>> a, b = (FlatLayout([torch.zeros(3), torch.zeros(2, 2)]).views(torch.zeros(32)) for _ in range(2))
    >>> [run[0].numel() for run in coalesce(list(zip(a, b)))]
    [20]
    """
    run: list[Sequence[Tensor]] = []
    for row in rows:
        if run and not _is_adjacent(run[-1], row):
            yield _flat_run(run)
            run = []
        run.append(row)
    if run:
        yield _flat_run(run)


def _is_adjacent(row: Sequence[Tensor], following: Sequence[Tensor]) -> bool:
    size, count = row[0].element_size(), row[0].numel()
    distance = following[0].data_ptr() - row[0].data_ptr()
    return count * size <= distance < (count + _CACHE_LINE) * size and all(
        b.data_ptr() - a.data_ptr() == distance and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
        for a, b in zip(row, following, strict=True)
    )


def _flat_run(run: list[Sequence[Tensor]]) -> tuple[Tensor, ...]:
    if len(run) == 1:
        return tuple(t.detach().view(-1) for t in run[0])
    distance = run[-1][0].data_ptr() - run[0][0].data_ptr()
    length = distance // run[0][0].element_size() + run[-1][0].numel()
    return tuple(torch.as_strided(t.detach(), (length,), (1,)) for t in run[0])
