"""Decoders for levels of detail in one function: a small perceptron per level, on the sum of the features up to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import level_decoders as equations
from alfilter.core.layers import Layers
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.mlp import can_block


def level_values(features: Tensor, dims: int, decoders: Sequence[Layers]) -> Tensor:
    """`core.level_decoders.level_values` in one pass over blocks of points, which stores nothing but the values.

    For perceptrons this small, computing a hidden layer again is faster than reading it.
    """
    tensors = [t for decoder in decoders for layer in decoder for t in layer]
    if not can_use_kernels(features, *tensors) or not can_block("relu", [weight for weight, _ in decoders[0]]):
        return equations.level_values(features, dims, decoders)
    flat = features.reshape(-1, features.shape[-1]).contiguous()
    out = _LevelDecoders.apply((dims, len(decoders)), flat, *tensors)  # type: ignore[no-untyped-call]
    return out.view(len(decoders), *features.shape[:-1], -1)  # type: ignore[no-any-return]


class _LevelDecoders(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: tuple[int, int], features: Tensor, *tensors: Tensor) -> Tensor:
        dims, levels = setting
        layers = tensors[: len(tensors) // levels]
        sizes = np.array([layers[0].shape[1], *(len(weight) for weight in layers[::2])])
        params = torch.cat([t.detach().reshape(-1) for t in tensors]).view(levels, -1)
        out = features.new_empty(levels, len(features), int(sizes[-1]))
        load_kernels("mlp").level_decoders_forward(features.detach().numpy(), dims, sizes, params.numpy(), out.numpy())
        ctx.save_for_backward(features, *tensors, params)
        ctx.setting = dims, levels, sizes
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (dims, levels, sizes), (features, *tensors, params) = ctx.setting, ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda z, *t: equations.level_values(z, dims, _grouped(t, levels))  # noqa: E731
            return None, *double_backward(plain, (features, *tensors), grads[0])
        by_features, by_params = torch.empty_like(features), torch.zeros_like(params)
        arrays = [t.detach().numpy() for t in (grads[0].contiguous(), features)]
        gradients = by_params.numpy(), by_features.numpy()
        load_kernels("mlp").level_decoders_backward(*arrays, dims, sizes, params.numpy(), *gradients)
        parts = torch.split(by_params.view(-1), [t.numel() for t in tensors])
        return None, by_features, *(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def _grouped(tensors: Sequence[Tensor], levels: int) -> list[Layers]:
    """A flat sequence of tensors as the layers of every level."""
    count = len(tensors) // levels
    decoders = [tensors[level * count : (level + 1) * count] for level in range(levels)]
    return [list(zip(decoder[::2], decoder[1::2], strict=True)) for decoder in decoders]
