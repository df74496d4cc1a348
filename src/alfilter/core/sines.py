"""The sine layers of the Fourier filter bank in one function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import fusible, kernels_of, replay
from alfilter.core.layers import affine_sine


def sine_bank(
    features: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], omega: float, cycles: Tensor
) -> Tensor:
    """[z_1 … z_L] of z_0 = sin(ω(W_0 x + b_0)), z_i = sin(ω(W_i z_{i-1} + b_i)) + sin(2π F_i g_i): a filter bank.

    features: (..., d + L F), [x, g_1, …, g_L]. weights: (w, d), then L of (w, w), biases to match. cycles: F_i,
    (L, w, F) → (..., L w). One function for all layers: a block of points goes through all of them before the next one
    comes, each way, and every z is written where the next network reads it.
    """
    if not fusible(features, *weights, *biases, cycles):
        return plain_sine_bank(features, weights, biases, omega, cycles)
    flat = features.reshape(-1, features.shape[-1]).contiguous()
    out = _SineBank.apply(omega, flat, cycles, *weights, *biases)  # type: ignore[no-untyped-call]
    return out.view(*features.shape[:-1], -1)  # type: ignore[no-any-return]


def plain_sine_bank(
    features: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], omega: float, cycles: Tensor
) -> Tensor:
    """The same in tensor operations: the reference, and the path for other devices and precisions."""
    x, *levels = torch.split(features, [weights[0].shape[1], *[cycles.shape[2]] * len(cycles)], dim=-1)
    z, found = affine_sine(x, weights[0], biases[0], omega), []
    for weight, bias, level, turns in zip(weights[1:], biases[1:], levels, cycles, strict=True):
        z = affine_sine(z, weight, bias, omega) + torch.sin(2 * math.pi * torch.nn.functional.linear(level, turns))
        found.append(z)
    return torch.cat(found, dim=-1)


class _SineBank(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, omega: float, features: Tensor, cycles: Tensor, *tensors: Tensor) -> Tensor:
        weights, biases = tensors[: len(tensors) // 2], tensors[len(tensors) // 2 :]
        count, width, _ = cycles.shape
        stacked = torch.stack(weights[1:]), torch.stack(biases)
        begun, out = features.new_empty(len(features), width), features.new_empty(len(features), count * width)
        slopes, turns = features.new_empty(count + 1, *begun.shape), features.new_empty(count, *begun.shape)
        given = [t.detach().contiguous().numpy() for t in (features, weights[0], *stacked, cycles)]
        made = [t.numpy() for t in (begun, out, slopes, turns)]
        kernels_of("bank").bank_forward(*given, np.float32(omega), *made)
        ctx.save_for_backward(features, cycles, *tensors, stacked[0], begun, out, slopes, turns)
        ctx.omega = omega
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features, cycles, *tensors, weights, begun, out, slopes, turns = ctx.saved_tensors
        half = len(tensors) // 2
        if torch.is_grad_enabled():
            plain = lambda z, f, *t: plain_sine_bank(z, t[:half], t[half:], ctx.omega, f)  # noqa: E731
            return None, *replay(plain, (features, cycles, *tensors), grads[0])
        entry, turned = tensors[0], cycles.transpose(1, 2)
        by_features, by_entry = torch.empty_like(features), entry.new_zeros(entry.shape[::-1])
        by_weights, by_biases = torch.zeros_like(weights), entry.new_zeros(half, len(entry))
        by_cycles = cycles.new_zeros(turned.shape)
        given = [
            t.detach().contiguous() for t in (grads[0], features, entry, weights, cycles, begun, out, slopes, turns)
        ]
        made = by_features, by_entry, by_weights, by_biases, by_cycles
        kernels_of("bank").bank_backward(*(t.numpy() for t in (*given, *made)))
        by_tensors = by_entry.t().contiguous(), *by_weights.unbind(), *by_biases.unbind()
        return None, by_features, by_cycles.transpose(1, 2).contiguous(), *by_tensors
