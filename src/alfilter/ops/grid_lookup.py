"""The features of a point on grids at several resolutions: corners, rows and weighted sums in one function."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import hash_grid as equations
from alfilter.core import level_filter
from alfilter.core.hash_grid import PRIMES, Layout
from alfilter.kernels.dispatch import can_use_kernels, has_nan, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.grad_buffers import grad_target
from alfilter.ops.weighted_rows import weighted_rows

_OPEN = np.empty((0, 0), np.float32)  # no filter


def lookup(
    table: Tensor,
    x: Tensor,
    layout: Layout,
    *,
    nodes: Tensor | None = None,
    snap: float = 0.0,
    coordinates: bool = False,
) -> Tensor:
    """[x,] g_1(x), …, g_L(x) with g_l = Σ_c w_c(x) T[row_l(c)]: every level's d-linear interpolation, concatenated.

    table: (R, F). x: (..., d), clamped to [-1, 1]. nodes: (total,) int32, the row of every node of the layout, below
    zero where it has none (zeros are read there); without it a node's row is the layout's own. snap: as in
    `core.hash_grid.corners`. coordinates: prepend x. → (..., [d +] L F).

    Up to four coordinates on the CPU take one compiled pass forward and one backward, which store neither rows nor
    weights.

    >>> lookup(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[-0.5]]), Layout.of([(2,)]), coordinates=True)
    tensor([[-0.5000,  2.0000]])
    """
    if _compiled(x, table, layout):
        flat = x.reshape(-1, layout.dims)
        out = _Lookup.apply(table, flat, layout, nodes, snap, coordinates)  # type: ignore[no-untyped-call]
        return out.view(*x.shape[:-1], out.shape[1])  # type: ignore[no-any-return]
    node, weight = corners(x, layout, snap=snap, like=table)
    features = weighted_rows(table, equations.mapped(node, nodes), weight).flatten(-2)
    return torch.cat((x, features), dim=-1) if coordinates else features


def corners(x: Tensor, layout: Layout, *, snap: float = 0.0, like: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Rows and d-linear weights of the 2^d corners of the cell of every point, level by level.

    x: (..., d) in [-1, 1], clamped to it. snap: a place closer than this many cells to a node is taken to be on it.
    like: the table that will be read, whose device and precision decide how. → index, weight: (..., L, 2^d) each;
    corner c lies on the far side along axis k where bit k of c is set.

    >>> index, weight = corners(torch.tensor([[-0.5]]), Layout.of([(2,)]))
    >>> index.tolist(), weight.tolist()
    ([[[0, 1]]], [[[0.5, 0.5]]])
    """
    if x.requires_grad or not can_use_kernels(x, x if like is None else like) or has_nan(x):
        return equations.corners(x, layout, snap=snap)
    flat = x.reshape(-1, layout.dims).contiguous()
    shape = len(flat), layout.levels, 1 << layout.dims
    index, weight = torch.empty(shape, dtype=torch.int32), torch.empty(shape, dtype=torch.float32)
    arrays = flat.numpy(), *_layout_arrays(layout), np.float32(snap), index.numpy(), weight.numpy()
    load_kernels("gather_scatter").corners(*arrays)
    return index.view(*x.shape[:-1], *shape[1:]), weight.view(*x.shape[:-1], *shape[1:])


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, x: Tensor, layout: Layout, nodes: Tensor | None, snap: float, coordinates: bool
    ) -> Tensor:
        ctx.save_for_backward(table, x)
        ctx.setting = layout, nodes, snap, coordinates
        skip = layout.dims * coordinates
        out = table.new_empty(len(x), skip + layout.levels * table.shape[1])
        out[:, :skip] = x[:, :skip]
        levels = kernel_levels(layout, nodes, snap)
        load_kernels("grid_lookup").lookup_forward(columns(x), levels, _OPEN, _rows(table), skip, out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        table, x = ctx.saved_tensors
        layout, nodes, snap, coordinates = ctx.setting
        if torch.is_grad_enabled():
            plain = lambda t, x: equations.lookup(t, x, *ctx.setting)  # noqa: E731
            return *double_backward(plain, (table, x), grads[0]), None, None, None, None
        target, result = grad_target(table)
        levels, skip = kernel_levels(layout, nodes, snap), layout.dims * coordinates
        load_kernels("grid_lookup").lookup_backward(columns(x), levels, _OPEN, _rows(grads[0]), skip, target.numpy())
        return result, None, None, None, None, None


def filtered_lookup(
    table: Tensor, x: Tensor, alpha: Tensor, layout: Layout, kappa: float, *, coordinates: bool = False
) -> Tensor:
    """[x,] H_0(α) g_0(x), …, H_{L-1}(α) g_{L-1}(x): the features of `lookup`, each level times its response to α.

    table: (R, F). x: (..., d). alpha: (...) in levels, H_j(α) = σ(κ(α - j + ½)) → (..., [d +] L F). Gradients of the
    table and of α are one compiled pass, too.

    >>> table, x, alpha = torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[-0.5]]), torch.tensor([-0.5])
    >>> filtered_lookup(table, x, alpha, Layout.of([(2,)]), kappa=2.0)
    tensor([[1.]])
    """
    if not _compiled(x, table, layout) or alpha.dtype != torch.float32:
        return level_filter.filtered_lookup(table, x, alpha, layout, kappa, coordinates)
    flat, level = x.reshape(-1, layout.dims), alpha.expand(x.shape[:-1]).reshape(-1)
    out = _FilteredLookup.apply(table, flat, level, layout, kappa, coordinates)  # type: ignore[no-untyped-call]
    return out.view(*x.shape[:-1], out.shape[1])  # type: ignore[no-any-return]


class _FilteredLookup(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, x: Tensor, alpha: Tensor, layout: Layout, kappa: float, coordinates: bool
    ) -> Tensor:
        skip = layout.dims * coordinates
        out = table.new_empty(len(x), skip + layout.levels * table.shape[1])
        out[:, :skip] = x[:, :skip]
        ctx.save_for_backward(table, x, alpha, out)
        ctx.setting = layout, kappa, coordinates
        kernel = load_kernels("level_filter").filtered_forward
        kernel(*_filter_arrays(x, alpha, layout, kappa), _rows(table), skip, out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        table, x, alpha, out = ctx.saved_tensors
        layout, kappa, coordinates = ctx.setting
        if torch.is_grad_enabled():
            plain = lambda t, x, a: level_filter.filtered_lookup(t, x, a, *ctx.setting)  # noqa: E731
            return *double_backward(plain, (table, x, alpha), grads[0]), None, None, None
        (target, result), by_alpha = grad_target(table), torch.empty_like(alpha)
        kernel, skip = load_kernels("level_filter").filtered_backward, layout.dims * coordinates
        arrays = _filter_arrays(x, alpha, layout, kappa)
        kernel(*arrays, out.numpy(), _rows(grads[0]), skip, target.numpy(), by_alpha.numpy())
        return result, None, by_alpha, None, None, None


def _filter_arrays(x: Tensor, alpha: Tensor, layout: Layout, kappa: float) -> tuple[Any, ...]:
    level = alpha.detach().contiguous().numpy()
    return columns(x), kernel_levels(layout), level, level_edges(layout.levels), np.float32(kappa)


def level_edges(levels: int) -> Any:
    """The α at which each level is half open, j - ½: (L,)."""
    return np.arange(levels, dtype=np.float32) - np.float32(0.5)


def _compiled(x: Tensor, table: Tensor, layout: Layout) -> bool:
    """Whether the kernels may run; they have the corners of up to four coordinates, and no gradient of x."""
    return layout.dims <= len(PRIMES) and not x.requires_grad and can_use_kernels(x, table) and not has_nan(x)


def columns(x: Tensor) -> Any:
    """Coordinates (n, d) as the kernels read them, d arrays (n,): their number is known to the compiler."""
    return tuple(x.detach().t().contiguous().numpy())


def _rows(values: Tensor) -> Any:
    return values.detach().contiguous().numpy()


def kernel_levels(layout: Layout, nodes: Tensor | None = None, snap: float = 0.0) -> Any:
    """A layout as the kernels read it, with the map of its nodes."""
    numbers = _level_arrays(layout)
    return load_kernels("grid_lookup").Levels(*numbers, None if nodes is None else nodes.numpy(), np.float32(snap))


@cache
def _level_arrays(layout: Layout) -> tuple[Any, ...]:
    """Cells and factors of every axis (L, d), first rows and masks (L,) of every level."""
    factors = [
        PRIMES[: layout.dims]
        if hashed
        else [prod(count + 1 for count in cells[axis + 1 :]) for axis in range(len(cells))]
        for cells, hashed in zip(layout.cells, layout.hashed, strict=True)
    ]
    masks = [rows - 1 if hashed else 0 for rows, hashed in zip(layout.rows, layout.hashed, strict=True)]
    # the last bits of a product do not depend on its factors' signs
    signed = np.array(factors, np.uint64).astype(np.uint32).view(np.int32)
    return np.array(layout.cells, np.int32), signed, np.array(layout.offsets, np.int32), np.array(masks, np.int32)


def _layout_arrays(layout: Layout) -> tuple[Any, ...]:
    """The layout as the kernel reads it: cells (L, d), offsets, row masks (0: dense), primes."""
    masks = [rows - 1 if shared else 0 for rows, shared in zip(layout.rows, layout.hashed, strict=True)]
    return (
        np.array(layout.cells, np.int64),
        np.array(layout.offsets, np.int64),
        np.array(masks, np.int64),
        np.array(PRIMES, np.int64),
    )
