"""Where the gradient of a table is added up, when its owner has a place for it.

A table's gradient is as large as the table, and what belongs to a step and not to its samples costs most: zeros for
every piece of a batch, adding them to the gradient so far, a copy into shared memory. With a room the first piece's
backward pass adds into it, and the following ones where that has become the parameter's gradient.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

_here = threading.local()


@contextmanager
def rooms(places: Mapping[int, Tensor]) -> Iterator[None]:
    """Inside, in this thread, gradients go to these places: by the address of a parameter's numbers, alike in shape."""
    _here.places = dict(places)
    try:
        yield
    finally:
        _here.places = {}


def sum_place(parameter: Tensor) -> tuple[Tensor, Tensor | None]:
    """Where to add a gradient, in one piece, and what to return to autograd for it: none if it is in place already.

    >>> table = torch.ones(3, requires_grad=True)
    >>> sum_place(table)
    (tensor([0., 0., 0.]), tensor([0., 0., 0.]))
    """
    places: dict[int, Tensor] = getattr(_here, "places", {})
    grad = parameter.grad if parameter.is_leaf else None
    if places and grad is not None and parameter.data_ptr() in places and grad.is_contiguous():
        return grad, None
    # taken out: a second use of the parameter within the same backward pass must not see the first one's sums
    room = places.pop(parameter.data_ptr(), None) if grad is None and parameter.is_leaf else None
    if room is None:
        room = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
        return room, room
    return room.zero_(), room.detach()  # a name of its own, which autograd takes as the gradient without a copy
