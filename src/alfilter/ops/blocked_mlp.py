"""A perceptron's layers over blocks of points, as one function: `layers.perceptron` where its layers fit the caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.ops.dispatch import kernels_of, replay

WIDEST, _MOST_INPUTS = 384, 1024  # above, a layer's weights leave the second cache, and a library's product is quicker
_MOST_KEPT = (1 << 23) - 1024  # numbers in one block of memory: the C library keeps no larger ones (`memory`)
KINDS = {"relu": 0, "sine": 1}

Plain = Callable[[Tensor, Sequence[Tensor], Sequence[Tensor]], Tensor]


def chainable(activation: str, weights: Sequence[Tensor]) -> bool:
    """Whether `chain` is the quick way: by its activation and its widths."""
    widest = max(len(weight) for weight in weights)
    return activation in KINDS and widest <= WIDEST and weights[0].shape[1] <= _MOST_INPUTS


def chain(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, omega: float, plain: Plain
) -> Tensor:
    """z ← σ(W z + b) for all layers but the last, then W z + b. x: (n, C) → (n, c).

    A block of points goes through all layers before the next one comes, each way, so that only what the way back
    needs is written to memory. plain: the same in tensor operations, for second derivatives.
    """
    given = KINDS[activation], omega, len(weights), plain
    kept = sum(kernels_of("mlp").stride(len(weight)) for weight in weights[:-1])  # numbers a point
    pieces = -(-len(x) * kept // _MOST_KEPT)
    if pieces > 1:
        parts = torch.split(x, -(-len(x) // pieces))
        return torch.cat([chain(part, weights, biases, activation, omega, plain) for part in parts])
    return _Chain.apply(given, x.contiguous(), *weights, *biases)  # type: ignore[no-any-return,no-untyped-call]


class _Chain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, given: tuple[int, float, int, Plain], x: Tensor, *tensors: Tensor) -> Tensor:
        kind, omega, count, _ = given
        sizes = np.array([x.shape[1], *(len(weight) for weight in tensors[:count])])
        pairs = zip(tensors[:count], tensors[count:], strict=True)
        numbers = torch.cat([t.detach().reshape(-1) for pair in pairs for t in pair])
        kernels = kernels_of("mlp")
        room = len(x) * sum(kernels.stride(width) for width in sizes[1:-1].tolist())
        kept, slopes = x.new_empty(room), x.new_empty(room if kind else 0)
        out = x.new_empty(len(x), int(sizes[-1]))
        arrays = [t.detach().numpy() for t in (numbers, kept, slopes, out)]
        kernels.chain_forward(x.detach().numpy(), sizes, arrays[0], kind, np.float32(omega), *arrays[1:])
        ctx.save_for_backward(x, *tensors, numbers, kept, slopes)
        ctx.given = given, sizes
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (kind, _, count, plain), sizes = ctx.given
        x, *tensors, numbers, kept, slopes = ctx.saved_tensors
        if torch.is_grad_enabled():
            return None, *replay(lambda x, *t: plain(x, t[:count], t[count:]), (x, *tensors), grads[0])
        by_numbers = torch.zeros_like(numbers)
        by_x = torch.empty_like(x) if ctx.needs_input_grad[1] else x.new_empty(0, x.shape[1])
        arrays = [t.detach().numpy() for t in (numbers, kept, slopes, by_numbers, by_x)]
        given = grads[0].contiguous().numpy(), x.detach().numpy(), sizes, arrays[0], kind
        kernels_of("mlp").chain_backward(*given, *arrays[1:])
        pairs = zip(tensors[:count], tensors[count:], strict=True)
        parts = torch.split(by_numbers, [t.numel() for pair in pairs for t in pair])
        by_tensors = [part.view(t.shape) for part, t in zip((*parts[::2], *parts[1::2]), tensors, strict=True)]
        return None, by_x if ctx.needs_input_grad[1] else None, *by_tensors
