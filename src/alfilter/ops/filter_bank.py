"""The network of the Fourier filter bank in one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import filter_bank as equations
from alfilter.core.layers import Layers
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.mlp import MAX_WIDTH


def filter_bank(features: Tensor, layers: Layers, cycles: Tensor, omega: float, merge: Layers) -> Tensor:
    """`core.filter_bank.filter_bank`; a block of points goes through all layers before the next one, each way."""
    tensors = [t for part in (layers, merge) for pair in part for t in pair]
    if max(len(bias) for _, bias in (*layers, *merge)) > MAX_WIDTH or not can_use_kernels(features, cycles, *tensors):
        return equations.filter_bank(features, layers, cycles, omega, merge)
    flat = features.reshape(-1, features.shape[-1]).contiguous()
    out = _FilterBank.apply((omega, len(layers)), flat, cycles, *tensors)  # type: ignore[no-untyped-call]
    return out.view(*features.shape[:-1], -1)  # type: ignore[no-any-return]


def _parts(tensors: Sequence[Tensor], count: int) -> tuple[Layers, Layers]:
    """The sine layers and the layers of the ReLU network in a flat sequence of tensors."""
    pairs = list(zip(tensors[::2], tensors[1::2], strict=True))
    return pairs[:count], pairs[count:]


class _FilterBank(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: tuple[float, int], features: Tensor, cycles: Tensor, *tensors: Tensor) -> Tensor:
        (omega, count), points = setting, len(features)
        layers, merge = _parts([t.detach() for t in tensors], count)
        levels, width, _ = cycles.shape
        entry = layers[0][0].contiguous()
        weights, biases = torch.stack([w for w, _ in layers[1:]]), torch.stack([b for _, b in layers])
        sizes = np.array([levels * width, *(len(bias) for _, bias in merge)])
        params = torch.cat([t.reshape(-1) for pair in merge for t in pair])
        first_layer, slopes = features.new_empty(points, width), features.new_empty(levels + 1, points, width)
        z, level_slopes = features.new_empty(points, levels * width), features.new_empty(levels, points, width)
        hidden = features.new_empty(points * sum(load_kernels("mlp").row_stride(size) for size in sizes[1:-1].tolist()))
        out = features.new_empty(points, int(sizes[-1]))
        inputs = [t.detach().numpy() for t in (features, entry, weights, biases, cycles.contiguous())]
        outputs = [t.numpy() for t in (first_layer, z, slopes, level_slopes, hidden, out)]
        load_kernels("filter_bank").filter_bank_forward(*inputs, np.float32(omega), sizes, params.numpy(), *outputs)
        ctx.save_for_backward(
            features, cycles, *tensors, entry, weights, params, first_layer, z, slopes, level_slopes, hidden
        )
        ctx.setting = omega, count, sizes
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        omega, count, sizes = ctx.setting
        features, cycles, *tensors, entry, weights, params, first_layer, z, slopes, level_slopes, hidden = (
            ctx.saved_tensors
        )
        if torch.is_grad_enabled():

            def plain(features: Tensor, cycles: Tensor, *tensors: Tensor) -> Tensor:
                layers, merge = _parts(tensors, count)
                return equations.filter_bank(features, layers, cycles, omega, merge)

            return None, *double_backward(plain, (features, cycles, *tensors), grads[0])
        by_features, by_entry = torch.empty_like(features), entry.new_zeros(entry.shape[::-1])
        by_weights, by_biases = torch.zeros_like(weights), entry.new_zeros(count, len(entry))
        by_cycles, by_params = cycles.new_zeros(cycles.transpose(1, 2).shape), torch.zeros_like(params)
        inputs = [t.detach().contiguous().numpy() for t in (grads[0], features, entry, weights, cycles)]
        saved = [t.numpy() for t in (first_layer, z, slopes, level_slopes, hidden)]
        gradients = [t.numpy() for t in (by_features, by_entry, by_weights, by_biases, by_cycles, by_params)]
        load_kernels("filter_bank").filter_bank_backward(*inputs, sizes, params.numpy(), *saved, *gradients)
        sine_layers = zip((by_entry.t().contiguous(), *by_weights), by_biases, strict=True)
        rest = tensors[2 * count :]
        parts = torch.split(by_params, [t.numel() for t in rest])
        by_merge = [part.view(t.shape) for part, t in zip(parts, rest, strict=True)]
        by_layers = [t for pair in sine_layers for t in pair]
        return None, by_features, by_cycles.transpose(1, 2).contiguous(), *by_layers, *by_merge
