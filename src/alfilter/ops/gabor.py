"""A layer that multiplies: an affine map of the features times a Gabor filter of the coordinates (MFN)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from alfilter.core import gabor as equations
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward


def gabor_product(
    a: Tensor, bias: Tensor, x: Tensor, omega: Tensor, phase: Tensor, centre: Tensor, gamma: Tensor
) -> Tensor:
    """(a + b) ⊙ sin(Ωx + φ) exp(-γ|x-μ|²/2), see `core.gabor.gabor_product`."""
    inputs = a, bias, x, omega, phase, centre, gamma
    if not can_use_kernels(*inputs):
        return equations.gabor_product(*inputs)
    flat_a, flat_x = a.reshape(-1, a.shape[-1]), x.reshape(-1, x.shape[-1])
    return _GaborProduct.apply(flat_a, bias, flat_x, *inputs[3:]).view(a.shape)  # type: ignore[no-any-return,no-untyped-call]


class _GaborProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        a, bias, x, omega, phase, centre, gamma = tensors
        out, by_factor, by_angle = (torch.empty_like(a) for _ in range(3))  # values, ∂out/∂a, ∂out/∂(Ωx + φ)
        arrays = [t.detach().contiguous().numpy() for t in (a, bias, x, omega.t(), phase, centre.t(), gamma)]
        load_kernels("gabor").gabor_product_forward(*arrays, out.numpy(), by_factor.numpy(), by_angle.numpy())
        ctx.save_for_backward(*tensors, out, by_factor, by_angle)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        *tensors, out, by_factor, by_angle = ctx.saved_tensors
        a, bias, x, omega, phase, centre, gamma = tensors
        if torch.is_grad_enabled() or ctx.needs_input_grad[2]:  # second derivatives, or gradients in the coordinates
            twice = torch.is_grad_enabled()
            with torch.enable_grad():
                by_inputs = double_backward(equations.gabor_product, tensors, grads[0])
            return tuple(g if twice or g is None else g.detach() for g in by_inputs)
        kernels, g = load_kernels("gabor"), grads[0].contiguous()
        by_a, by_bias, by_phase, by_gamma = torch.empty_like(a), *(torch.zeros_like(t) for t in (bias, phase, gamma))
        by_omega, by_centre = (omega.new_zeros(omega.shape[1], omega.shape[0]) for _ in range(2))
        arrays = (t.numpy() for t in (g, by_factor, by_angle, x.contiguous(), by_a, by_bias, by_phase, by_omega))
        kernels.gabor_product_backward(*arrays)
        tensors = [g, out, x.contiguous(), centre.t().contiguous(), gamma, by_centre, by_gamma]
        kernels.envelope_backward(*(t.detach().numpy() for t in tensors))
        return by_a, by_bias, None, by_omega.t(), by_phase, by_centre.t(), by_gamma
