"""Networks of multiplied sine filters (MFN, BACON) in one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from alfilter.core import multiplicative as equations
from alfilter.core.layers import Layers
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.mlp import MAX_WIDTH


def sine_filters(x: Tensor, filters: Layers, layers: Layers, heads: Layers) -> Tensor:
    """`core.multiplicative.sine_filters`, block of points by block, each way; it saves W z + b of every layer."""
    tensors = [t for part in (filters, layers, heads) for pair in part for t in pair]
    if x.requires_grad or len(layers[0][1]) > MAX_WIDTH or not can_use_kernels(x, *tensors):
        return equations.sine_filters(x, filters, layers, heads)
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    out = _SineFilters.apply((len(layers), len(heads)), flat, *tensors)  # type: ignore[no-untyped-call]
    return out.view(len(heads), *x.shape[:-1], -1)  # type: ignore[no-any-return]


def _parts(tensors: Sequence[Tensor], layers: int) -> tuple[Layers, Layers, Layers]:
    """filters, layers and heads in a flat sequence of tensors."""
    pairs = list(zip(tensors[::2], tensors[1::2], strict=True))
    return pairs[: layers + 1], pairs[layers + 1 : 2 * layers + 1], pairs[2 * layers + 1 :]


class _SineFilters(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, counts: tuple[int, int], x: Tensor, *tensors: Tensor) -> Tensor:
        kernels, (layers, outputs) = load_kernels("multiplicative"), counts
        stacked = []  # Ω, φ, W, b, V, c
        for part in _parts([t.detach() for t in tensors], layers):
            stacked += [torch.stack([pair[0] for pair in part]), torch.stack([pair[1] for pair in part])]
        saved = x.new_empty(layers, len(x), load_kernels("mlp").row_stride(stacked[1].shape[1]))
        out = x.new_empty(outputs, len(x), stacked[5].shape[1])
        kernels.sine_filters_forward(*(t.numpy() for t in (x, *stacked, saved, out)))
        ctx.save_for_backward(x, *tensors, *stacked[:3], stacked[4], saved)
        ctx.layers = layers
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, *tensors, omegas, phases, weights, heads, saved = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda x, *t: equations.sine_filters(x, *_parts(t, ctx.layers))  # noqa: E731
            return None, *double_backward(plain, (x, *tensors), grads[0])
        grad, transposed = grads[0].contiguous(), omegas.transpose(1, 2)
        by_omegas, by_phases = omegas.new_zeros(transposed.shape), torch.zeros_like(phases)
        by_weights, by_biases, by_heads = (torch.zeros_like(t) for t in (weights, phases[1:], heads))
        arrays = grad, x, omegas, phases, weights, heads, saved, by_omegas, by_phases, by_weights, by_biases, by_heads
        load_kernels("multiplicative").sine_filters_backward(*(t.detach().numpy() for t in arrays))
        parts = (by_omegas.transpose(1, 2).contiguous(), by_phases), (by_weights, by_biases), (by_heads, grad.sum(1))
        return None, None, *(t for part in parts for pair in zip(*part, strict=True) for t in pair)
