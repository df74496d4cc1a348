"""A layer that multiplies: an affine map of the features times a Gabor filter of the coordinates (MFN)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def gabor_product(
    a: Tensor, bias: Tensor, x: Tensor, omega: Tensor, phase: Tensor, centre: Tensor, gamma: Tensor
) -> Tensor:
    """(a + b) ⊙ sin(Ωx + φ) exp(-γ|x-μ|²/2) with a = W z, the features after a linear map.

    a: (..., w), bias: (w,), x: (..., d), omega, centre: (w, d), phase, gamma: (w,) → (..., w).

    >>> one, a = torch.ones(1), torch.full((1, 1), 2.0)
    >>> gabor_product(a, one, torch.full((1, 1), 0.5), 3 * one[None], 0 * one, one[None] / 2, one)  # 3 sin 1.5
    tensor([[2.9925]])
    """
    # |x|² + |μ|² - 2μx, one product instead of a difference for every coordinate
    distance = x.square().sum(-1, keepdim=True) + centre.square().sum(-1) - 2 * F.linear(x, centre)
    return (a + bias) * torch.sin(F.linear(x, omega, phase)) * torch.exp(-0.5 * gamma * distance)
