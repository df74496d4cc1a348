"""d-linear interpolation of a grid, differentiable, in one compiled pass where possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import grid as equations
from alfilter.kernels.dispatch import can_use_kernels, has_nan, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.grad_buffers import grad_target


def interpolate(grid: Tensor, x: Tensor) -> Tensor:
    """I(x; A), d-linear interpolation (Eq. grid_interp), see `core.grid.interpolate`."""
    equations.check_axes(grid, x)
    dims = x.shape[-1]
    varying = [k for k in range(dims) if grid.shape[k] > 1] or [0]
    if len(varying) < dims:  # the 2^d corners are those of the axes along which anything changes
        return interpolate(grid.reshape(*(grid.shape[k] for k in varying), grid.shape[-1]), x[..., varying])
    # the kernel turns coordinates into integer node indices, which NaN cannot be
    if grid.shape[-1] == 1 and not x.requires_grad and can_use_kernels(x, grid) and not has_nan(x):
        return _Interpolate.apply(grid, x.flatten(0, -2)).view(*x.shape[:-1], 1)  # type: ignore[no-any-return,no-untyped-call]
    return equations.interpolate(grid, x)


class _Interpolate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, grid: Tensor, x: Tensor) -> Tensor:
        ctx.save_for_backward(grid, x)
        out = x.new_empty(len(x))
        load_kernels("interpolate").interpolate_forward(
            grid.contiguous().numpy().reshape(-1), *_layout(grid), _rows(x), out.numpy()
        )
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grid, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return double_backward(lambda *t: equations.interpolate(*t).squeeze(-1), (grid, x), grads[0])
        target, out = grad_target(grid)
        load_kernels("interpolate").interpolate_backward(
            grads[0].contiguous().numpy(), *_layout(grid), _rows(x), target.numpy().reshape(-1)
        )
        return out, None


def _rows(x: Tensor) -> Any:
    return x.contiguous().numpy()


def _layout(grid: Tensor) -> tuple[Any, Any]:
    return np.array(grid.shape[:-1]), np.array(equations.strides(grid.shape[:-1]))
