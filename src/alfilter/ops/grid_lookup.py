"""The features of a point on grids at several resolutions: corners, rows and weighted sums in one function."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import hash_grid as equations
from alfilter.core.hash_grid import PRIMES, Layout
from alfilter.ops.dispatch import fusible, has_nan, replay
from alfilter.ops.weighted_rows import weighted_rows
from alfilter.runtime.grad_buffers import sum_place

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
    found = weighted_rows(table, equations.mapped(node, nodes), weight).flatten(-2)
    return torch.cat((x, found), dim=-1) if coordinates else found


def corners(x: Tensor, layout: Layout, *, snap: float = 0.0, like: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Rows and d-linear weights of the 2^d corners of the cell of every point, level by level.

    x: (..., d) in [-1, 1], clamped to it. snap: a place closer than this many cells to a node is taken to be on it.
    like: the table that will be read, whose device and precision decide how. → index, weight: (..., L, 2^d) each;
    corner c lies on the far side along axis k where bit k of c is set.

    >>> index, weight = corners(torch.tensor([[-0.5]]), Layout.of([(2,)]))
    >>> index.tolist(), weight.tolist()
    ([[[0, 1]]], [[[0.5, 0.5]]])
    """
    if x.requires_grad or not fusible(x, x if like is None else like) or has_nan(x):
        return equations.corners(x, layout, snap=snap)
    from alfilter.kernels import gather_scatter as gathering

    flat = x.reshape(-1, layout.dims).contiguous()
    shape = len(flat), layout.levels, 1 << layout.dims
    index, weight = torch.empty(shape, dtype=torch.int32), torch.empty(shape, dtype=torch.float32)
    found: Any = gathering.corners  # a compiled function, whose arguments no type checker sees
    found(flat.numpy(), *_layout_arrays(layout), np.float32(snap), index.numpy(), weight.numpy())
    return index.view(*x.shape[:-1], *shape[1:]), weight.view(*x.shape[:-1], *shape[1:])


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, x: Tensor, layout: Layout, nodes: Tensor | None, snap: float, coordinates: bool
    ) -> Tensor:
        from alfilter.kernels import grid_lookup as lookup_kernels

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
        from alfilter.kernels import grid_lookup as lookup_kernels

        table, x = ctx.saved_tensors
        if torch.is_grad_enabled():
            return (
                *replay(lambda t, x: equations.lookup(t, x, *ctx.setting), (table, x), grads[0]),
                None,
                None,
                None,
                None,
            )
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


def _layout_arrays(layout: Layout) -> tuple[Any, ...]:
    """The layout as the kernel reads it: cells (L, d), offsets, row masks (0: dense), primes."""
    masks = [rows - 1 if shared else 0 for rows, shared in zip(layout.rows, layout.hashed, strict=True)]
    return (
        np.array(layout.cells, np.int64),
        np.array(layout.offsets, np.int64),
        np.array(masks, np.int64),
        np.array(PRIMES, np.int64),
    )
