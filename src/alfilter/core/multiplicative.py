"""Networks of multiplied sine filters: MFN with sines, BACON."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.core.layers import Layers


def sine_filters(x: Tensor, filters: Layers, layers: Layers, heads: Layers) -> Tensor:
    """z_0 = sin(Ω_0 x + φ_0), z_i = (W_i z_{i-1} + b_i) ⊙ sin(Ω_i x + φ_i), y_h = V_h z + c_h of the last H layers.

    x: (..., d). filters: L+1 of Ω (w, d), φ (w,). layers: L of W (w, w), b (w,). heads: H of V (c, w), c (c,) →
    (H, ..., c).

    >>> one, half = torch.ones(1, 1), [(torch.ones(1, 1), torch.zeros(1))] * 2
    >>> sine_filters(one, half, half[:1], half[:1])  # sin²1
    tensor([[[0.7081]]])
    """
    z, outputs = torch.sin(F.linear(x, *filters[0])), []
    for (weight, bias), (omega, phase) in zip(layers, filters[1:], strict=True):
        z = F.linear(z, weight, bias) * torch.sin(F.linear(x, omega, phase))
        outputs.append(z)
    return torch.stack([F.linear(z, *head) for z, head in zip(outputs[-len(heads) :], heads, strict=True)])
