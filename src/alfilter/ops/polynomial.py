"""Poly-INR's network in one function: levels that multiply the features with an affine map of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import polynomial as equations
from alfilter.core.polynomial import Parts
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.mlp import MAX_WIDTH


def polynomial(x: Tensor, parts: Parts, slope: float) -> Tensor:
    """`core.polynomial.polynomial`, block of points by block, each way; it saves v of every level."""
    tensors = [t for part in parts for t in part]
    if x.requires_grad or max(len(weight) for weight in parts[2]) > MAX_WIDTH or not can_use_kernels(x, *tensors):
        return equations.polynomial(x, parts, slope)
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    out = _Polynomial.apply((len(parts[0]), slope), flat, *tensors)  # type: ignore[no-untyped-call]
    return out.view(*x.shape[:-1], -1)  # type: ignore[no-any-return]


def _parts(tensors: Sequence[Tensor], levels: int) -> Parts:
    """maps, offsets, weights and biases in a flat sequence of tensors."""
    affine, rest = tensors[: 2 * levels], tensors[2 * levels :]
    return affine[:levels], affine[levels:], rest[: levels + 1], rest[levels + 1 :]


class _Polynomial(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: tuple[int, float], x: Tensor, *tensors: Tensor) -> Tensor:
        levels, slope = setting
        maps, offsets, weights, biases = _parts([t.detach() for t in tensors], levels)
        stacked = [torch.stack(list(part)) for part in (maps, offsets, weights[:-1], biases[:-1])]
        head, head_bias = weights[-1].contiguous()[None], biases[-1].contiguous()
        saved = x.new_empty(levels, len(x), load_kernels("mlp").row_stride(len(maps[0])))
        out = x.new_empty(len(x), len(head_bias))
        arrays = [t.detach().numpy() for t in (x, *stacked, head, head_bias)]
        load_kernels("polynomial").polynomial_forward(*arrays, np.float32(slope), saved.numpy(), out.numpy())
        ctx.save_for_backward(x, *tensors, *stacked[:3], head, saved)
        ctx.setting = setting
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        levels, slope = ctx.setting
        x, *tensors, maps, offsets, weights, head, saved = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda x, *t: equations.polynomial(x, _parts(t, levels), slope)  # noqa: E731
            return None, *double_backward(plain, (x, *tensors), grads[0])
        by_maps, by_offsets = maps.new_zeros(maps.transpose(1, 2).shape), torch.zeros_like(offsets)
        by_weights, by_biases, by_head = torch.zeros_like(weights), torch.zeros_like(offsets), torch.zeros_like(head[0])
        grad = grads[0].contiguous()
        inputs = [t.detach().numpy() for t in (grad, x, maps, offsets, weights, head)]
        sums = [t.numpy() for t in (saved, by_maps, by_offsets, by_weights, by_biases, by_head)]
        load_kernels("polynomial").polynomial_backward(*inputs, np.float32(slope), *sums)
        by_affine = *by_maps.transpose(1, 2).contiguous().unbind(), *by_offsets.unbind()
        return None, None, *by_affine, *by_weights.unbind(), by_head, *by_biases.unbind(), grad.sum(0)
