"""Many tensors in one piece of memory, so that what is done to every number is one call and not one a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from torch import Tensor

_LINE = 16  # numbers: every tensor starts where a line of the cache does


class Packing:
    """Where tensors of these shapes lie side by side.

    >>> packing = Packing([torch.zeros(3), torch.zeros(2, 2)])
    >>> packing.starts, packing.total
    ([0, 16], 32)
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.shapes = [t.shape for t in tensors]
        ends = list(accumulate(-(-t.numel() // _LINE) * _LINE for t in tensors))
        self.starts, self.total = [0, *ends][: len(tensors)], ends[-1] if ends else 0

    def views(self, flat: Tensor) -> list[Tensor]:
        """The tensors, as parts of (total,) numbers."""
        return [
            flat[start : start + shape.numel()].view(shape)
            for start, shape in zip(self.starts, self.shapes, strict=True)
        ]


def packed(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Zeros alike, in one piece of memory."""
    packing = Packing(tensors)
    return packing.views(tensors[0].new_zeros(packing.total)) if tensors else []


def together(rows: Sequence[Sequence[Tensor]]) -> Iterator[tuple[Tensor, ...]]:
    """The tensors of every row, flat; consecutive rows in one where all their tensors follow each other in memory.

    Between neighbours may be a gap below a line of the cache, the same in all columns: what is done to the numbers of a
    run is done to those of the gaps, too.

    >>> a, b = (Packing([torch.zeros(3), torch.zeros(2, 2)]).views(torch.zeros(32)) for _ in range(2))
    >>> [run[0].numel() for run in together(list(zip(a, b)))]
    [20]
    """
    run: list[Sequence[Tensor]] = []
    for row in rows:
        if run and not _follows(run[-1], row):
            yield _joined(run)
            run = []
        run.append(row)
    if run:
        yield _joined(run)


def _follows(row: Sequence[Tensor], following: Sequence[Tensor]) -> bool:
    size, count = row[0].element_size(), row[0].numel()
    step = following[0].data_ptr() - row[0].data_ptr()
    return count * size <= step < (count + _LINE) * size and all(
        b.data_ptr() - a.data_ptr() == step and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
        for a, b in zip(row, following, strict=True)
    )


def _joined(run: list[Sequence[Tensor]]) -> tuple[Tensor, ...]:
    if len(run) == 1:
        return tuple(t.detach().view(-1) for t in run[0])
    step = run[-1][0].data_ptr() - run[0][0].data_ptr()
    length = step // run[0][0].element_size() + run[-1][0].numel()
    return tuple(torch.as_strided(t.detach(), (length,), (1,)) for t in run[0])
