"""The features of a point on grids at several resolutions: corners, rows and weighted sums in one function."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import fusible, has_nan, replay
from alfilter.core.hash import Layout, corners, plain_corners
from alfilter.core.rooms import sum_place
from alfilter.core.rows import plain_weighted_rows, weighted_rows

_NONE = np.empty(0, np.int32)


def lookup(
    table: Tensor,
    x: Tensor,
    layout: Layout,
    *,
    nodes: Tensor | None = None,
    snap: float = 0.0,
    coordinates: bool = False,
) -> Tensor:
    """[x,] g_1(x), …, g_L(x) with g_l = Σ_c w_c(x) T[row_l(c)]: every level's d-linear interpolation side by side.

    table: (R, F). x: (..., d), clamped to [-1, 1]. nodes: (total,) int32, the row of every node of the layout, below
    zero where it has none (zeros are read there); without it a node's row is the layout's own. snap: as in
    `hash.corners`. coordinates: whether x comes first. → (..., [d +] L F).

    Two coordinates on the CPU go through one compiled pass each way that stores neither rows nor weights.

    >>> lookup(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[-0.5]]), Layout.of([(2,)]), coordinates=True)
    tensor([[-0.5000,  2.0000]])
    """
    if layout.dims == 2 and not x.requires_grad and fusible(x, table) and not has_nan(x):
        flat = x.reshape(-1, 2)
        out = _Lookup.apply(table, flat, layout, nodes, snap, coordinates)  # type: ignore[no-untyped-call]
        return out.view(*x.shape[:-1], out.shape[1])  # type: ignore[no-any-return]
    node, weight = corners(x, layout, snap=snap, like=table)
    found = weighted_rows(table, _mapped(node, nodes), weight).flatten(-2)
    return torch.cat((x, found), dim=-1) if coordinates else found


def plain_lookup(
    table: Tensor, x: Tensor, layout: Layout, nodes: Tensor | None, snap: float, coordinates: bool
) -> Tensor:
    """`lookup` in tensor operations: the reference, and the path of second derivatives."""
    node, weight = plain_corners(x, layout, snap=snap)
    found = plain_weighted_rows(table, _mapped(node, nodes), weight).flatten(-2)
    return torch.cat((x, found), dim=-1) if coordinates else found


def _mapped(node: Tensor, nodes: Tensor | None) -> Tensor:
    return node if nodes is None else nodes.index_select(0, node.reshape(-1)).view(node.shape)


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, x: Tensor, layout: Layout, nodes: Tensor | None, snap: float, coordinates: bool
    ) -> Tensor:
        from alfilter.core import lookup_kernels

        ctx.save_for_backward(table, x)
        ctx.setting = layout, nodes, snap, coordinates
        skip = 2 * coordinates
        out = table.new_empty(len(x), skip + layout.levels * table.shape[1])
        out[:, :skip] = x[:, :skip]
        kernel: Any = lookup_kernels.lookup_forward  # a compiled function, whose arguments no type checker sees
        kernel(*_arrays(x, *ctx.setting[:3]), table.contiguous().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        from alfilter.core import lookup_kernels

        table, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return *replay(lambda t, x: plain_lookup(t, x, *ctx.setting), (table, x), grads[0]), None, None, None, None
        place, out = sum_place(table)
        kernel: Any = lookup_kernels.lookup_backward
        kernel(*_arrays(x, *ctx.setting[:3]), grads[0].contiguous().numpy(), place.numpy())
        return out, None, None, None, None, None


def _arrays(x: Tensor, layout: Layout, nodes: Tensor | None, snap: float) -> tuple[Any, ...]:
    """What the kernels read: coordinates (2, n), the layout, the rows of nodes, snap."""
    known = _NONE if nodes is None else nodes.numpy()
    return x.detach().t().contiguous().numpy(), _levels(layout), known, np.float32(snap)


@cache
def _levels(layout: Layout) -> Any:
    """(L, 4) integers of a layout over two axes: cells along each, first row, mask of a shared level or 0."""
    masks = [rows - 1 if shared else 0 for rows, shared in zip(layout.rows, layout.hashed, strict=True)]
    levels = zip(layout.cells, layout.offsets, masks, strict=True)
    return np.array([(*cells, first, mask) for cells, first, mask in levels], np.int32)
