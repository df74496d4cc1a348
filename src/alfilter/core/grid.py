"""Values on a regular grid over [-1, 1]^d: interpolation between them and their total variation."""

from __future__ import annotations

from itertools import product
from typing import Literal

import torch
from torch import Tensor

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
    check_axes(grid, x)
    dims = x.shape[-1]
    lower, weight = _cells(x, grid.shape[:-1])  # (..., d) each
    step = strides(grid.shape[:-1])
    flat = grid.flatten(0, -2)  # (ΠR, F)
    out = torch.zeros((), dtype=x.dtype, device=x.device)
    for corner in product((0, 1), repeat=dims):
        index = sum(((lower[..., k] + corner[k]).clamp(max=grid.shape[k] - 1)) * step[k] for k in range(dims))
        share = _product([weight[..., k] if corner[k] else 1 - weight[..., k] for k in range(dims)])  # (...)
        values = flat.index_select(0, torch.as_tensor(index).reshape(-1)).view(
            *x.shape[:-1], grid.shape[-1]
        )  # (..., F)
        out = out + share.unsqueeze(-1) * values
    return out


def check_axes(grid: Tensor, x: Tensor) -> None:
    """A grid has one axis per coordinate, and one more for its features."""
    dims = x.shape[-1]
    if grid.dim() != dims + 1:
        raise UserError(
            f"a grid for {dims} coordinates has {dims + 1} axes (the last holds features), got {tuple(grid.shape)}"
        )


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


def _cells(x: Tensor, shape: torch.Size) -> tuple[Tensor, Tensor]:
    """The lower corner (integer) of the cell of each point, and the position inside it in [0, 1]."""
    last = torch.tensor([size - 1 for size in shape], dtype=x.dtype, device=x.device)  # (d,)
    position = (x.clamp(-1, 1) + 1) * (last / 2)
    with torch.no_grad():
        lower = torch.minimum(position.floor(), (last - 1).clamp(min=0)).nan_to_num().long()  # NaN stays in the weight
    return lower, position - lower


def strides(shape: torch.Size) -> list[int]:
    """How far apart the neighbours along each axis are in a flat grid, the last axis fastest."""
    steps = [1]
    for size in reversed(shape[1:]):
        steps.insert(0, steps[0] * size)
    return steps


def _product(factors: list[Tensor]) -> Tensor:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result
