"""γ(x): coordinates to Fourier channels, in the order on which the filter's axis is defined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.filter import band_response
from alfilter.core.fused import compiled, fusible, replay

_FAR = 1e9  # an α beyond is out of every band, and would not fit the integers the kernel counts channels with


def encoded_dim(in_dim: int, levels: int) -> int:
    """C_N = 2 d L, the number of encoded channels (Eq. encoded_dim).

    >>> encoded_dim(2, 8)
    32
    """
    return 2 * in_dim * levels


def dyadic_encoding(x: Tensor, levels: int) -> Tensor:
    """γ(x): sine and cosine of 2^j π x_k for every scale j and coordinate k (Eq. fourier_encoding).

    The channel order is scale-major, then coordinate, then (sin, cos):
    [sin(2^0 π x_1), cos(2^0 π x_1), …, cos(2^0 π x_d), …, cos(2^(L-1) π x_d)]. The filter acts on the channel
    *index*, so this order is part of the mathematics; other libraries use others.

    x: (..., d) → (..., 2 d L).

    >>> dyadic_encoding(torch.tensor([[0.5, 0.0]]), levels=1).round(decimals=4).abs()
    tensor([[1., 0., 0., 1.]])
    """
    scales = math.pi * 2.0 ** torch.arange(levels, dtype=x.dtype, device=x.device)  # (L,)
    angles = x.unsqueeze(-2) * scales.unsqueeze(-1)  # (..., L, d)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (..., L, d, 2)
    return pairs.flatten(-3)  # (..., 2dL)


def random_features(x: Tensor, frequencies: Tensor) -> Tensor:
    """[sin(2π B x), cos(2π B x)] for fixed frequencies B, the Fourier features of Tancik et al.

    x: (..., d), frequencies: (m, d) → (..., 2m), all sines first.
    """
    angles = (2 * math.pi) * (x @ frequencies.T)  # (..., m)
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


def channel_scales(in_dim: int, levels: int) -> Tensor:
    """The dyadic scale j of every encoded channel c, i.e. the j with c ∈ S_j: (C_N,) integers.

    >>> channel_scales(in_dim=2, levels=2).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    return torch.arange(levels).repeat_interleave(2 * in_dim)


def scale_sets(in_dim: int, levels: int) -> list[range]:
    """S_j: the channels that belong to the dyadic scale 2^j, for j = 0 … L-1 (Eq. A.4 for any d).

    >>> scale_sets(in_dim=1, levels=2)
    [range(0, 2), range(2, 4)]
    """
    width = 2 * in_dim
    return [range(j * width, (j + 1) * width) for j in range(levels)]


def filtered_encoding(x: Tensor, alpha: Tensor, levels: int, bandwidth: float, kappa: float) -> Tensor:
    """γ'(x) = H_B(α(x)) ⊙ γ(x), element by element on the channels (Eq. filtered_gamma).

    x: (..., d), alpha: (...) in channel units → (..., 2 d L).

    >>> filtered_encoding(torch.tensor([[0.5]]), torch.tensor([0.0]), levels=2, bandwidth=3.0, kappa=10.0)[0, 0]
    tensor(1.0000)
    """
    if x.requires_grad or alpha.shape != x.shape[:-1] or not fusible(x, alpha):
        return plain_filtered_encoding(x, alpha, levels, bandwidth, kappa)
    flat = x.flatten(0, -2), alpha.flatten()
    return _Filtered.apply(*flat, levels, bandwidth, kappa).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


def plain_filtered_encoding(x: Tensor, alpha: Tensor, levels: int, bandwidth: float, kappa: float) -> Tensor:
    """`filtered_encoding` in tensor operations: the reference, and the path when x needs a gradient."""
    response = band_response(alpha, encoded_dim(x.shape[-1], levels), bandwidth, kappa)  # (..., C_N)
    return response * dyadic_encoding(x, levels)


class _Filtered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, alpha: Tensor, levels: int, bandwidth: float, kappa: float) -> Tensor:
        channels = encoded_dim(x.shape[1], levels)
        out = x.new_empty(len(x), channels)
        slope = torch.empty_like(out)
        numbers = (np.float32(v) for v in (bandwidth / 2, kappa, -math.expm1(-kappa * bandwidth)))
        powers = np.exp(-kappa * np.arange(channels)).astype(np.float32)
        points = x.contiguous().numpy(), alpha.clamp(-_FAR, _FAR).contiguous().numpy()
        compiled().filter_forward(*points, *numbers, powers, out.numpy(), slope.numpy())
        ctx.save_for_backward(x, alpha, slope)
        ctx.setting = levels, bandwidth, kappa
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, alpha, slope = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = replay(lambda *t: plain_filtered_encoding(*t, *ctx.setting), (x, alpha), grads[0])
            return *plain, None, None, None
        out = torch.empty_like(alpha)
        compiled().row_dot(grads[0].contiguous().numpy(), slope.numpy(), out.numpy())
        return None, out, None, None, None
