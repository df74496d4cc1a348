"""Values on a regular grid over [-1, 1]^d: interpolation between them and their total variation."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import compiled, fusible, has_nan, replay
from alfilter.core.rooms import sum_place
from alfilter.errors import UserError


def interpolate(grid: Tensor, x: Tensor) -> Tensor:
    """I(x; A): d-linear interpolation of a grid whose ends sit on -1 and 1 (Eq. grid_interp).

    Every corner value is weighted by the product of its distances along the axes. The weights are ordinary tensor
    arithmetic, so first and second derivatives in x and in the grid are exact (`torch.nn.functional.grid_sample` has no
    second derivative and stops at three dimensions). Outside [-1, 1] the nearest border value is taken. An axis with
    one node is constant.

    grid: (R_1, …, R_d, F), x: (..., d) with coordinate k along axis k → (..., F).

    >>> interpolate(torch.tensor([[0.0], [2.0], [10.0]]), torch.tensor([[-0.5], [1.0]])).squeeze(-1)
    tensor([ 1., 10.])
    """
    dims = x.shape[-1]
    if grid.dim() != dims + 1:
        raise UserError(
            f"a grid for {dims} coordinates has {dims + 1} axes (the last holds features), got {tuple(grid.shape)}"
        )
    varying = [k for k in range(dims) if grid.shape[k] > 1] or [0]
    if len(varying) < dims:  # the 2^d corners are those of the axes along which anything changes
        return interpolate(grid.reshape(*(grid.shape[k] for k in varying), grid.shape[-1]), x[..., varying])
    # the kernel counts nodes with integers, and NaN is none
    if grid.shape[-1] == 1 and not x.requires_grad and fusible(x, grid) and not has_nan(x):
        return _Interpolate.apply(grid, x.flatten(0, -2)).view(*x.shape[:-1], 1)  # type: ignore[no-any-return,no-untyped-call]
    return plain_interpolate(grid, x)


def plain_interpolate(grid: Tensor, x: Tensor) -> Tensor:
    """`interpolate` in tensor operations: the reference, and the path when x needs a gradient."""
    dims = x.shape[-1]
    lower, weight = _cells(x, grid.shape[:-1])  # (..., d) each
    strides = _strides(grid.shape[:-1])
    flat = grid.flatten(0, -2)  # (ΠR, F)
    out = torch.zeros((), dtype=x.dtype, device=x.device)
    for corner in product((0, 1), repeat=dims):
        index = sum(((lower[..., k] + corner[k]).clamp(max=grid.shape[k] - 1)) * strides[k] for k in range(dims))
        share = _product([weight[..., k] if corner[k] else 1 - weight[..., k] for k in range(dims)])  # (...)
        values = flat.index_select(0, torch.as_tensor(index).reshape(-1)).view(
            *x.shape[:-1], grid.shape[-1]
        )  # (..., F)
        out = out + share.unsqueeze(-1) * values
    return out


def total_variation(grid: Tensor, *, reduction: Literal["sum", "mean"]) -> Tensor:
    """Σ |A_{i+1,…} - A_{i,…}| over neighbours along every axis of a grid (the penalty of the sparse task).

    The paper sums; `mean` divides by the number of neighbour pairs. They differ by the grid's size, so the choice must
    be named. grid: (R_1, …, R_d, F) → ().

    >>> total_variation(torch.tensor([[0.0], [3.0], [1.0]]), reduction="sum")
    tensor(5.)
    """
    if reduction not in ("sum", "mean"):
        raise UserError(f"the reduction of a total variation is sum or mean, got {reduction!r}")
    steps = [grid.diff(dim=axis).abs() for axis in range(grid.dim() - 1)]
    total = torch.stack([step.sum() for step in steps]).sum()
    if reduction == "sum":
        return total
    return total / max(1, sum(step.numel() for step in steps))


class _Interpolate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, grid: Tensor, x: Tensor) -> Tensor:
        ctx.save_for_backward(grid, x)
        out = x.new_empty(len(x))
        compiled().interpolate_forward(grid.contiguous().numpy().reshape(-1), *_layout(grid), _rows(x), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grid, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return replay(lambda *t: plain_interpolate(*t).squeeze(-1), (grid, x), grads[0])
        place, out = sum_place(grid)
        compiled().interpolate_backward(
            grads[0].contiguous().numpy(), *_layout(grid), _rows(x), place.numpy().reshape(-1)
        )
        return out, None


def _rows(x: Tensor) -> Any:
    return x.contiguous().numpy()


def _layout(grid: Tensor) -> tuple[Any, Any]:
    return np.array(grid.shape[:-1]), np.array(_strides(grid.shape[:-1]))


def _cells(x: Tensor, shape: torch.Size) -> tuple[Tensor, Tensor]:
    """The lower corner (integer) of the cell of each point, and the position inside it in [0, 1]."""
    last = torch.tensor([size - 1 for size in shape], dtype=x.dtype, device=x.device)  # (d,)
    position = (x.clamp(-1, 1) + 1) * (last / 2)
    with torch.no_grad():
        lower = torch.minimum(position.floor(), (last - 1).clamp(min=0)).nan_to_num().long()  # NaN stays in the weight
    return lower, position - lower


def _strides(shape: torch.Size) -> list[int]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def _product(factors: list[Tensor]) -> Tensor:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result
