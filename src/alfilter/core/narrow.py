"""Products with a narrow matrix, in the order in which they are quick.

A network's first weights have as many columns as there are coordinates. MKL on a processor with AVX2 multiplies *by* a
matrix of 2 to 8 columns four to twelve times slower than the transposes in the other order: the gradient of siren's two
columns of first weights took half as long as that of 256. The numbers are the same up to rounding.
"""

from __future__ import annotations

import torch
from torch import Tensor

_FEW, _NARROW = 8, 48  # columns: up to here a row-major factor is slow; up to here the turned product is not slower


def outer(g: Tensor, x: Tensor) -> Tensor:
    """gᵀ x, the gradient of weights. g: (n, w), x: (n, k) → (w, k).

    >>> outer(torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]]))
    tensor([[13., 16.]])
    """
    if 1 < x.shape[1] <= _NARROW < g.shape[1]:
        return torch.mm(x.t(), g).t().contiguous()
    return torch.mm(g.t(), x)


def through(g: Tensor, weight: Tensor, out: Tensor | None = None) -> Tensor:
    """g W, a gradient passed on by a layer. g: (n, w), weight: (w, k) → (n, k), in `out` if it is given.

    >>> through(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    turned = weight.t().contiguous().t() if 1 < weight.shape[1] <= _FEW else weight
    return torch.mm(g, turned) if out is None else torch.mm(g, turned, out=out)
