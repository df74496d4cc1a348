"""Sine layers in a single pass each way, for networks that are not a plain chain of layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import compiled, compiled_products, fusible, replay
from alfilter.core.layers import affine_sine


def sine_layer(x: Tensor, weight: Tensor, bias: Tensor, omega: float) -> Tensor:
    """sin(ω(W x + b)), the same as `affine_sine`, compiled where that is possible.

    x: (..., C), weight: (w, C), bias: (w,) → (..., w).

    >>> sine_layer(torch.tensor([[1.0]]), torch.tensor([[0.5]]), torch.tensor([0.25]), omega=2.0)
    tensor([[0.9975]])
    """
    if not fusible(x, weight, bias):
        return affine_sine(x, weight, bias, omega)
    flat = x.reshape(-1, x.shape[-1])
    return _SineLayer.apply(flat, weight, bias, omega).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


class _SineLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, omega: float) -> Tensor:
        z = torch.mm(x, weight.t())
        slope = torch.empty_like(z)
        compiled().sine_forward(z.numpy(), bias.numpy(), np.float32(omega), slope.numpy())
        ctx.save_for_backward(x, weight, bias, slope)
        ctx.omega = omega
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, bias, slope = ctx.saved_tensors
        if torch.is_grad_enabled():
            return *replay(lambda x, w, b: affine_sine(x, w, b, ctx.omega), (x, weight, bias), grads[0]), None
        g, sums = grads[0].clone(memory_format=torch.contiguous_format), torch.zeros_like(bias)
        compiled().sine_backward(g.numpy(), slope.numpy(), sums.numpy())
        by_input = torch.mm(g, weight) if ctx.needs_input_grad[0] else None
        return by_input, torch.mm(g.t(), x), sums, None


def sine_sum_layer(x: Tensor, weight: Tensor, bias: Tensor, omega: float, level: Tensor, cycles: Tensor) -> Tensor:
    """sin(ω(W x + b)) + sin(2π F g), a layer of the Fourier filter bank.

    x: (..., C), weight: (w, C), bias: (w,), level g: (..., F), cycles F: (w, F) → (..., w).
    """
    if not fusible(x, weight, bias, level, cycles):
        return plain_sine_sum(x, weight, bias, omega, level, cycles)
    flat = x.reshape(-1, x.shape[-1]), level.reshape(-1, level.shape[-1])
    return _SineSum.apply(omega, flat[0], weight, bias, flat[1], cycles).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


def plain_sine_sum(x: Tensor, weight: Tensor, bias: Tensor, omega: float, level: Tensor, cycles: Tensor) -> Tensor:
    """The same in tensor operations: the reference, and the path for other devices and precisions."""
    return affine_sine(x, weight, bias, omega) + torch.sin(2 * math.pi * torch.nn.functional.linear(level, cycles))


class _SineSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, omega: float, x: Tensor, weight: Tensor, bias: Tensor, level: Tensor, cycles: Tensor
    ) -> Tensor:
        z = torch.mm(x, weight.t())
        slope, turn = torch.empty_like(z), torch.empty_like(z)
        arrays = (t.detach().contiguous().numpy() for t in (level, cycles.t()))
        compiled_products().sine_sum_forward(
            z.numpy(), bias.numpy(), np.float32(omega), *arrays, slope.numpy(), turn.numpy()
        )
        ctx.save_for_backward(x, weight, bias, level, cycles, slope, turn)
        ctx.omega = omega
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, bias, level, cycles, slope, turn = ctx.saved_tensors
        if torch.is_grad_enabled():
            tensors = x, weight, bias, level, cycles
            return None, *replay(lambda x, w, b, g, f: plain_sine_sum(x, w, b, ctx.omega, g, f), tensors, grads[0])
        by_a, by_angle, by_bias = torch.empty_like(slope), torch.empty_like(turn), torch.zeros_like(bias)
        arrays = (t.numpy() for t in (grads[0].contiguous(), slope, turn, by_a, by_bias, by_angle))
        compiled_products().sine_sum_backward(*arrays)
        by_x = torch.mm(by_a, weight) if ctx.needs_input_grad[1] else None
        by_level = torch.mm(by_angle, cycles) if ctx.needs_input_grad[4] else None
        return None, by_x, torch.mm(by_a.t(), x), by_bias, by_level, torch.mm(by_angle.t(), level)
