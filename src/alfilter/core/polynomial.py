"""Poly-INR's network: levels that multiply the features with an affine map of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

Parts = tuple[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor], Sequence[Tensor]]


def polynomial(x: Tensor, parts: Parts, slope: float) -> Tensor:
    """z_0 = A_0 x + c_0, z_i = l(v_i) ⊙ l(A_i x + c_i), W_L l(v_L) + b_L at the end; v_i = W_{i-1} z_{i-1} + b_{i-1}.

    l(t) = max(t, slope·t). x: (..., d). parts: maps A, L of (w, d); offsets c, L of (w,); weights W, L of (w, w), then
    (c, w); biases b to match → (..., c).

    >>> import torch
    >>> one = torch.ones(1, 1)
    >>> polynomial(2 * one, ([one, one], [one[0], one[0]], [one, one, one], [one[0]] * 3), slope=0.5)
    tensor([[14.]])
    """
    maps, offsets, weights, biases = parts
    z = F.linear(x, maps[0], offsets[0])
    for i in range(1, len(maps)):
        factor = F.leaky_relu(F.linear(x, maps[i], offsets[i]), slope)
        z = F.leaky_relu(F.linear(z, weights[i - 1], biases[i - 1]), slope) * factor  # (..., w)
    z = F.leaky_relu(F.linear(z, weights[-2], biases[-2]), slope)
    return F.linear(z, weights[-1], biases[-1])
