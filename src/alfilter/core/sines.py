"""The sine layers of the Fourier filter bank in one function, with a single pass over every layer each way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import compiled, compiled_products, fusible, replay
from alfilter.core.layers import affine_sine
from alfilter.core.narrow import outer, through


def sine_bank(
    features: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], omega: float, cycles: Tensor
) -> Tensor:
    """[z_1 … z_L] of z_0 = sin(ω(W_0 x + b_0)), z_i = sin(ω(W_i z_{i-1} + b_i)) + sin(2π F_i g_i): a filter bank.

    features: (..., d + L F), [x, g_1, …, g_L]. weights: (w, d), then L of (w, w), biases to match. cycles: F_i,
    (L, w, F) → (..., L w). One function for all layers: every z is written where the next network reads it, and a z's
    gradients from there and from the next layer are added by the product itself.
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
        (width, dims), (count, _, size), rate = weights[0].shape, cycles.shape, np.float32(omega)
        z = torch.mm(features[:, :dims], weights[0].t())
        slopes = z.new_empty(count + 1, *z.shape)
        turns, out, a = z.new_empty(count, *z.shape), z.new_empty(len(z), count * width), torch.empty_like(z)
        compiled().sine_forward(z.numpy(), biases[0].numpy(), rate, slopes[0].numpy())
        first, turned = z, cycles.detach().transpose(1, 2).contiguous().numpy()  # (L, F, w)
        for i in range(count):
            torch.mm(z, weights[i + 1].t(), out=a)
            given = features.detach().numpy(), dims + i * size, turned[i], out.numpy(), i * width
            arrays = slopes[i + 1].numpy(), turns[i].numpy()
            compiled_products().sine_sum_forward(a.numpy(), biases[i + 1].numpy(), rate, *given, *arrays)
            z = out[:, i * width : (i + 1) * width]
        ctx.save_for_backward(features, cycles, *tensors, first, out, slopes, turns)
        ctx.omega = omega
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features, cycles, *tensors, first, out, slopes, turns = ctx.saved_tensors
        half = len(tensors) // 2
        if torch.is_grad_enabled():
            plain = lambda z, f, *t: plain_sine_bank(z, t[:half], t[half:], ctx.omega, f)  # noqa: E731
            return None, *replay(plain, (features, cycles, *tensors), grads[0])
        weights, (width, dims), (count, _, size) = tensors[:half], tensors[0].shape, cycles.shape
        given = grads[0].contiguous()
        by_features, by_cycles = torch.empty_like(features), torch.empty_like(cycles)
        by_weights, by_biases = [torch.empty_like(w) for w in weights], [torch.zeros_like(b) for b in tensors[half:]]
        by_a, by_angle = torch.empty_like(first), torch.empty_like(first)
        g = given.new_empty(0, width)  # of z_i, from the layer after it; the rest stands in `given`
        for i in reversed(range(count)):
            arrays = g, slopes[i + 1], turns[i], by_a, by_biases[i + 1], by_angle
            compiled_products().sine_sum_backward(given.numpy(), i * width, *(t.numpy() for t in arrays))
            place = slice(dims + i * size, dims + (i + 1) * size)
            through(by_angle, cycles[i], out=by_features[:, place])
            by_cycles[i] = outer(by_angle, features[:, place])
            before = slice((i - 1) * width, i * width)
            torch.mm(by_a.t(), out[:, before] if i else first, out=by_weights[i + 1])
            g = through(by_a, weights[i + 1])
        compiled().sine_backward(g.numpy(), slopes[0].numpy(), by_biases[0].numpy())
        by_weights[0] = outer(g, features[:, :dims])
        through(g, weights[0], out=by_features[:, :dims])
        return None, by_features, by_cycles, *by_weights, *by_biases
