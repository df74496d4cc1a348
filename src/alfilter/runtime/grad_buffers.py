"""Where the gradient of a table is added up, when its owner has a place for it.

A table's gradient is as large as the table, and what belongs to a step and not to its samples costs most: zeros for
every piece of a batch, adding them to the gradient so far, a copy into shared memory. With a room the first piece's
backward pass adds into it, and the following ones where that has become the parameter's gradient.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

_here = threading.local()


@dataclass
class _Rooms:
    places: Mapping[int, Tensor]
    taken: set[int] = field(default_factory=set)


@contextmanager
def rooms(places: Mapping[int, Tensor]) -> Iterator[None]:
    """Inside, in this thread, gradients go to these places: by the address of a parameter's numbers, alike in shape."""
    _here.rooms = _Rooms(places)
    try:
        yield
    finally:
        _here.rooms = None


def sum_place(parameter: Tensor) -> tuple[Tensor, Tensor | None]:
    """Where to add a gradient, in one piece, and what to return to autograd for it: none if it is in place already.

    >>> table = torch.ones(3, requires_grad=True)
    >>> sum_place(table)
    (tensor([0., 0., 0.]), tensor([0., 0., 0.]))
    """
    known: _Rooms | None = getattr(_here, "rooms", None)
    room = known.places.get(parameter.data_ptr()) if known is not None and parameter.is_leaf else None
    if known is not None and room is not None:
        if parameter.grad is not None and parameter.grad.data_ptr() == room.data_ptr():
            return room, None
        # taken once: a second use of the parameter within the same backward pass must not see the first one's sums
        if parameter.grad is None and parameter.data_ptr() not in known.taken:
            known.taken.add(parameter.data_ptr())
            return room.zero_(), room.detach()  # a name of its own, which autograd takes as the gradient without a copy
    zeros = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    return zeros, zeros
