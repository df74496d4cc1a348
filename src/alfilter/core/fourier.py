"""γ(x): coordinates to Fourier channels, in the order on which the filter's axis is defined."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from alfilter.core.filter import band_response


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


def dyadic_rates(in_dim: int, levels: int) -> Tensor:
    """The angles of `dyadic_encoding` as a matrix: (L d, d), of which each has a sine and a cosine.

    >>> (dyadic_rates(in_dim=2, levels=2) / math.pi).tolist()
    [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]]
    """
    scales = math.pi * 2.0 ** torch.arange(levels, dtype=torch.float32)
    return (scales[:, None, None] * torch.eye(in_dim)).flatten(0, 1)


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
    response = band_response(alpha, encoded_dim(x.shape[-1], levels), bandwidth, kappa)  # (..., C_N)
    return response * dyadic_encoding(x, levels)
