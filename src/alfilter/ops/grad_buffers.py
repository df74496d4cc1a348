"""Preallocated buffers for the gradients of large tables.

A table's gradient is as large as the table, so work that is done once per micro-batch instead of once per sample costs
most: allocating zeros, adding them to the gradient so far, copying the sum into shared memory. With a buffer the first
micro-batch's backward pass adds into it directly, and so do the following ones once it is the parameter's `.grad`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

_local = threading.local()


@dataclass
class _Buffers:
    by_address: Mapping[int, Tensor]
    used: set[int] = field(default_factory=set)


@contextmanager
def grad_buffers(by_address: Mapping[int, Tensor]) -> Iterator[None]:
    """Inside, in this thread, gradients are added into these buffers.

    by_address: `parameter.data_ptr()` → a buffer of the parameter's shape.
    """
    _local.buffers = _Buffers(by_address)
    try:
        yield
    finally:
        _local.buffers = None


def grad_target(parameter: Tensor) -> tuple[Tensor, Tensor | None]:
    """A contiguous tensor to add a gradient into, and what to return to autograd: None if `.grad` is that tensor.

    >>> table = torch.ones(3, requires_grad=True)
    >>> grad_target(table)
    (tensor([0., 0., 0.]), tensor([0., 0., 0.]))
    """
    buffers: _Buffers | None = getattr(_local, "buffers", None)
    buffer = buffers.by_address.get(parameter.data_ptr()) if buffers is not None and parameter.is_leaf else None
    if buffers is not None and buffer is not None:
        if parameter.grad is not None and parameter.grad.data_ptr() == buffer.data_ptr():
            return buffer, None
        # used once: a second use of the parameter within the same backward pass must not see the sums of the first
        if parameter.grad is None and parameter.data_ptr() not in buffers.used:
            buffers.used.add(parameter.data_ptr())
            return buffer.zero_(), buffer.detach()  # a new tensor object, which autograd adopts without a copy
    zeros = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    return zeros, zeros
