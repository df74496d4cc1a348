"""Weighted sums of a table's rows: what every grid, hash table and octree of features does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from alfilter.core import hash_grid as equations
from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.grad_buffers import grad_target


def weighted_rows(table: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """Σ_k w_k T[i_k], see `core.hash_grid.weighted_rows`; the gradient is a scatter of the same weights."""
    if weight.requires_grad or index.dtype != torch.int32 or not can_use_kernels(weight, table):
        return equations.weighted_rows(table, index, weight)
    flat = index.flatten(0, -2), weight.flatten(0, -2)
    return _WeightedRows.apply(table, *flat).view(*index.shape[:-1], table.shape[1])  # type: ignore[no-any-return,no-untyped-call]


class _WeightedRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(table, index, weight)
        out = table.new_empty(len(index), table.shape[1])
        load_kernels("gather_scatter").gather(table.contiguous().numpy(), *_arrays(index, weight), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        table, index, weight = ctx.saved_tensors
        if torch.is_grad_enabled():
            return double_backward(equations.weighted_rows, (table, index, weight), grads[0])
        target, out = grad_target(table)
        load_kernels("gather_scatter").scatter(grads[0].contiguous().numpy(), *_arrays(index, weight), target.numpy())
        return out, None, None


def _arrays(index: Tensor, weight: Tensor) -> tuple[Any, Any]:
    return index.contiguous().numpy(), weight.contiguous().numpy()
