"""Layers that multiply: an affine map of the features times a filter of the coordinates.

    out = (a + b) ⊙ g(x),   a = W z

sine (MFN, BACON): g = sin(Ωx + φ). gabor (MFN): g = sin(Ωx + φ) exp(-γ|x-μ|²/2).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.core.fused import fusible, kernels_of, replay

KINDS = ("sine", "gabor")


def sine_product(a: Tensor, bias: Tensor, x: Tensor, omega: Tensor, phase: Tensor) -> Tensor:
    """(a + b) ⊙ sin(Ωx + φ). a: (..., w), bias: (w,), x: (..., d), omega: (w, d), phase: (w,) → (..., w).

    >>> one, a = torch.ones(1), torch.full((1, 1), 2.0)
    >>> sine_product(a, one, x=torch.full((1, 1), 0.5), omega=torch.full((1, 1), 3.0), phase=0 * one)  # 3 sin 1.5
    tensor([[2.9925]])
    """
    return _product("sine", a, bias, x, omega, phase)


def gabor_product(
    a: Tensor, bias: Tensor, x: Tensor, omega: Tensor, phase: Tensor, centre: Tensor, gamma: Tensor
) -> Tensor:
    """(a + b) ⊙ sin(Ωx + φ) exp(-γ|x-μ|²/2). As `sine_product`; centre μ: (w, d), gamma: (w,) → (..., w)."""
    return _product("gabor", a, bias, x, omega, phase, centre, gamma)


def _product(kind: str, a: Tensor, bias: Tensor, x: Tensor, *filters: Tensor) -> Tensor:
    if not fusible(a, bias, x, *filters):
        return plain_product(kind, a, bias, x, *filters)
    flat_a, flat_x = a.reshape(-1, a.shape[-1]), x.reshape(-1, x.shape[-1])
    return _Product.apply(kind, flat_a, bias, flat_x, *filters).view(a.shape)  # type: ignore[no-any-return,no-untyped-call]


def plain_product(kind: str, a: Tensor, bias: Tensor, x: Tensor, *filters: Tensor) -> Tensor:
    """The same in tensor operations: the reference, and the path for other devices and precisions."""
    angle = F.linear(x, filters[0], filters[1])
    out = (a + bias) * torch.sin(angle)
    if kind == "gabor":
        centre, gamma = filters[2:]
        # |x|² + |μ|² - 2μx, one product instead of a difference for every coordinate
        distance = x.square().sum(-1, keepdim=True) + centre.square().sum(-1) - 2 * F.linear(x, centre)
        out = out * torch.exp(-0.5 * gamma * distance)
    return out


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kind: str, *tensors: Tensor) -> Tensor:
        a, bias, x, omega, phase, *envelope = tensors
        out, gate, turn = (torch.empty_like(a) for _ in range(3))  # values, ∂out/∂a, ∂out/∂angle
        kernels = kernels_of("product")
        given = [t.detach().contiguous().numpy() for t in (a, bias, x, omega.t(), phase)]
        made = out.numpy(), gate.numpy(), turn.numpy()
        if kind == "sine":
            kernels.sine_product_forward(*given, *made)
        else:
            centre, gamma = (t.detach().contiguous().numpy() for t in (envelope[0].t(), envelope[1]))
            kernels.gabor_product_forward(*given, centre, gamma, *made)
        ctx.save_for_backward(*tensors, out, gate, turn)
        ctx.kind = kind
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, out, gate, turn = ctx.saved_tensors
        a, bias, x, omega, phase, *envelope = tensors
        if torch.is_grad_enabled() or ctx.needs_input_grad[3]:  # twice, or in the coordinates
            twice = torch.is_grad_enabled()
            with torch.enable_grad():
                found = replay(lambda *given: plain_product(ctx.kind, *given), tensors, grads[0])
            return None, *(g if twice or g is None else g.detach() for g in found)
        kernels, g = kernels_of("product"), grads[0].contiguous()
        by_a, by_bias, by_phase = torch.empty_like(a), torch.zeros_like(bias), torch.zeros_like(phase)
        by_omega = omega.new_zeros(omega.shape[1], omega.shape[0])
        arrays = (t.numpy() for t in (g, gate, turn, x.contiguous(), by_a, by_bias, by_phase, by_omega))
        kernels.product_backward(*arrays)
        result = by_a, by_bias, None, by_omega.t(), by_phase
        if not envelope:
            return None, *result
        by_centre, by_gamma = torch.zeros_like(by_omega), torch.zeros_like(phase)
        centre, gamma = envelope[0].t().contiguous(), envelope[1]
        arrays = (t.detach().numpy() for t in (g, out, x.contiguous(), centre, gamma, by_centre, by_gamma))
        kernels.envelope_backward(*arrays)
        return None, *result, by_centre.t(), by_gamma
