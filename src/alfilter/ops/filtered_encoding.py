"""γ'(x) = H_B(α(x)) ⊙ γ(x) in one differentiable pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import fourier as equations
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward

_FAR = 1e9  # beyond, α is outside every band and would not fit the integers with which the kernel counts channels


def filtered_encoding(x: Tensor, alpha: Tensor, levels: int, bandwidth: float, kappa: float) -> Tensor:
    """γ'(x) = H_B(α(x)) ⊙ γ(x) (Eq. filtered_gamma), see `core.fourier.filtered_encoding`."""
    if x.requires_grad or alpha.shape != x.shape[:-1] or not can_use_kernels(x, alpha):
        return equations.filtered_encoding(x, alpha, levels, bandwidth, kappa)
    flat = x.flatten(0, -2), alpha.flatten()
    return _Filtered.apply(*flat, levels, bandwidth, kappa).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


class _Filtered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha: Tensor, levels: int, bandwidth: float, kappa: float) -> Tensor:
        channels = equations.encoded_dim(x.shape[1], levels)
        out = x.new_empty(len(x), channels)
        slope = torch.empty_like(out)
        numbers = (np.float32(v) for v in (bandwidth / 2, kappa, -math.expm1(-kappa * bandwidth)))
        powers = np.exp(-kappa * np.arange(channels)).astype(np.float32)
        points = x.contiguous().numpy(), alpha.clamp(-_FAR, _FAR).contiguous().numpy()
        load_kernels("filtered_encoding").filtered_encoding_forward(
            *points, *numbers, powers, out.numpy(), slope.numpy()
        )
        ctx.save_for_backward(x, alpha, slope)
        ctx.setting = levels, bandwidth, kappa
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, alpha, slope = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = double_backward(lambda *t: equations.filtered_encoding(*t, *ctx.setting), (x, alpha), grads[0])
            return *plain, None, None, None
        out = torch.empty_like(alpha)
        load_kernels("filtered_encoding").row_dot(grads[0].contiguous().numpy(), slope.numpy(), out.numpy())
        return None, out, None, None, None
