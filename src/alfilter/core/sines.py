"""One sine layer in a single pass each way, for networks that are not a plain chain of layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import compiled, fusible, replay
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
