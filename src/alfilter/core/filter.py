"""H_B(α): the smooth band filter on the axis of encoded channels."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def stable_sigmoid(x: Tensor) -> Tensor:
    """σ_s(x) = 1/(1+e^-x) for x ≥ 0 and e^x/(1+e^x) below, so that no exponential overflows (Eq. stable_sigmoid).

    Both branches are one expression in e^-|x| ≤ 1, which keeps every derivative finite too. |x| is spelled by cases:
    `abs` has the derivative 0 at 0, where the sigmoid is steepest and α grids that start on a channel sit.

    >>> stable_sigmoid(torch.tensor([-1e30, 0.0, 1e30]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    above = x >= 0
    small = torch.exp(torch.where(above, -x, x))  # in (0, 1]
    return torch.where(above, torch.ones_like(small), small) / (1 + small)


def band_response(alpha: Tensor, channels: int, bandwidth: float, kappa: float) -> Tensor:
    """H_B^c(α) = σ_s(κ(c-α+B/2)) - σ_s(κ(c-α-B/2)) for every channel c (Eq. channel_filter).

    Evaluated as σ_s(a) σ_s(-b) (1-e^(b-a)) with a, b the two arguments: the same number, since
    σ(a)-σ(b) = σ(a)σ(-b)(1-e^(b-a)) and a-b = κB, but without subtracting two numbers near one, so the response far
    outside the band keeps its relative accuracy.

    alpha: (...) in channel units → (..., channels), values in [0, 1).

    >>> band_response(torch.tensor(0.0), channels=4, bandwidth=3.0, kappa=10.0).round(decimals=2)
    tensor([1.0000, 0.9900, 0.0100, 0.0000])
    """
    index = torch.arange(channels, dtype=alpha.dtype, device=alpha.device)  # (C,)
    offset = index - alpha.unsqueeze(-1)  # (..., C)
    rising = stable_sigmoid(kappa * (offset + bandwidth / 2))
    falling = stable_sigmoid(kappa * (bandwidth / 2 - offset))
    return rising * falling * -math.expm1(-kappa * bandwidth)


def scale_response(alpha: Tensor, in_dim: int, levels: int, bandwidth: float, kappa: float) -> Tensor:
    """H̄_j(α): the mean response over the channels S_j of each dyadic scale (Eq. aggregated_filter).

    alpha: (...) → (..., L).

    >>> scale_response(torch.tensor(0.0), in_dim=1, levels=2, bandwidth=3.0, kappa=10.0).round(decimals=2)
    tensor([1., 0.])
    """
    response = band_response(alpha, 2 * in_dim * levels, bandwidth, kappa)  # (..., 2dL)
    return response.view(*alpha.shape, levels, 2 * in_dim).mean(-1)


def level_response(alpha: Tensor, levels: int, kappa: float, bandwidth: float | None = None) -> Tensor:
    """H_j(α) = σ_s(κ(α-j+½)) for the levels j = 0 … L-1 of a grid: those below α pass.

    The low-pass limit of H_B with its upper edge at α + ½; with a finite bandwidth B, in levels, it is H_B itself with
    that upper edge, so that levels more than B below α are held back again. alpha: (...) in levels → (..., L).

    >>> level_response(torch.tensor(2.0), levels=4, kappa=4.0).round(decimals=2)
    tensor([1.0000, 1.0000, 0.8800, 0.1200])
    """
    if bandwidth is not None:
        return band_response(alpha + 0.5 - bandwidth / 2, levels, bandwidth, kappa)
    index = torch.arange(levels, dtype=alpha.dtype, device=alpha.device)  # (L,)
    return stable_sigmoid(kappa * (alpha.unsqueeze(-1) - index + 0.5))
