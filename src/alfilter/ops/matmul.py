"""Matrix products by weights, in the order and by the code that is fastest.

A network's first weights have as many columns as there are coordinates. MKL on a processor with AVX2 multiplies *by* a
matrix of 2 to 8 columns four to twelve times slower than the transposes in the other order, and by one whose rows are
not a multiple of a cache line a third slower. `kernels.gemm` is as fast as MKL at its best on some processors, at any
width; where it is not, the way `layers` (`kernels.dispatch`) leaves products to the library. The numbers are
the same up to rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.kernels.dispatch import can_use_kernels, current_way, load_kernels

_NARROW = 48  # columns up to which the transposed product is not slower
_SMALL = 1 << 18  # weights above which packing them into panels takes too long
_FEW = 1024  # rows below which packing weights that are not narrow is a tenth of the product


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """a b with a matrix b of weights, which is smaller. a: (n, k), b: (k, m) → (n, m).

    >>> multiply(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    packs_too_long = b.numel() > _SMALL or (len(a) < _FEW and min(b.shape) > _NARROW)
    if current_way() == "layers" or packs_too_long or not can_use_kernels(a, b):
        return torch.mm(a, b)
    out = a.new_empty(len(a), b.shape[1])
    load_kernels("gemm").matmul(a.detach().numpy(), b.detach().numpy(), out.numpy())
    return out


def outer(g: Tensor, x: Tensor) -> Tensor:
    """gᵀ x, the gradient of weights. g: (n, w), x: (n, k) → (w, k).

    >>> outer(torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]]))
    tensor([[13., 16.]])
    """
    if 1 < x.shape[1] <= _NARROW < g.shape[1]:
        return torch.mm(x.t(), g).t().contiguous()
    return torch.mm(g.t(), x)


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """x Wᵀ, differentiable. x: (..., k), weight: (w, k) → (..., w).

    >>> linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
    tensor([[11.]])
    """
    if not can_use_kernels(x, weight):
        return F.linear(x, weight)
    return _Linear.apply(x.reshape(-1, x.shape[-1]), weight).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return multiply(x, weight.t())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (x, weight), g, (by_x, by_weight) = ctx.saved_tensors, grads[0], ctx.needs_input_grad
        if torch.is_grad_enabled():
            return g @ weight if by_x else None, g.t() @ x if by_weight else None
        return multiply(g, weight) if by_x else None, outer(g, x) if by_weight else None
