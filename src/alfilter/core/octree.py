"""Which cells of a dyadic tree are worth refining: sums over cells, levels of them, and a budget of nodes."""

from __future__ import annotations

from itertools import product
from math import sqrt

import torch
from torch import Tensor


def cell_of(x: Tensor, cells: int) -> Tensor:
    """The flat index of the cell of every point, the last axis fastest. x: (..., d) in [-1, 1] → (...) integers.

    >>> cell_of(torch.tensor([[-1.0, 0.3], [1.0, 1.0]]), 2).tolist()
    [1, 3]
    """
    place = ((x.clamp(-1, 1) + 1) * (cells / 2)).floor().clamp(max=cells - 1).nan_to_num().long()
    index = place[..., 0]
    for axis in range(1, x.shape[-1]):
        index = index * cells + place[..., axis]
    return index


def coarsen(values: Tensor, reduction: str) -> Tensor:
    """Every 2^d cells in one, by `sum` or `amin`. values: (2R, …, 2R, ...) over the first d axes, given as (d axes).

    >>> coarsen(torch.tensor([1.0, 2.0, 3.0, 4.0]), "sum")
    tensor([3., 7.])
    """
    dims = values.dim()
    pairs = values.view([n for size in values.shape for n in (size // 2, 2)])
    axes = tuple(range(1, 2 * dims, 2))
    return pairs.sum(axes) if reduction == "sum" else pairs.amin(axes)


def detail(count: Tensor, total: Tensor, square: Tensor) -> Tensor:
    """Σ |v - v̄|² over the samples of a cell, from their number, sum (c of them) and sum of squares.

    It is the squared error that remains when a cell holds one value only.
    count, square: (R, …, R), total: (c, R, …, R) → (R, …, R).
    """
    return (square - total.square().sum(0) / count.clamp(min=1)).clamp(min=0)


def nearness(distance: Tensor, cells: int) -> Tensor:
    """-|f|/diagonal of a cell whose smallest |f| is `distance`: at least -1 where a surface may cross the cell."""
    diagonal = 2 / cells * sqrt(distance.dim())
    return -distance / diagonal


def touched_nodes(cells: Tensor) -> Tensor:
    """The corners of the marked cells. cells: (R, …, R) booleans → (R+1, …, R+1).

    >>> touched_nodes(torch.tensor([False, True, False])).tolist()
    [False, True, True, False]
    """
    nodes = torch.zeros([size + 1 for size in cells.shape], dtype=torch.bool, device=cells.device)
    for corner in product((0, 1), repeat=cells.dim()):
        nodes[tuple(slice(c, c + size) for c, size in zip(corner, cells.shape, strict=True))] |= cells
    return nodes


def reached_cells(nodes: Tensor) -> Tensor:
    """The cells with a marked corner. nodes: (R+1, …, R+1) booleans → (R, …, R)."""
    cells = torch.zeros([size - 1 for size in nodes.shape], dtype=torch.bool, device=nodes.device)
    for corner in product((0, 1), repeat=nodes.dim()):
        cells |= nodes[tuple(slice(c, c + size) for c, size in zip(corner, cells.shape, strict=True))]
    return cells


def refine(scores: list[Tensor], base: int, floor: float, capacity: int) -> list[Tensor]:
    """The marked nodes of every level of a tree that refines the cells of highest score within a budget of nodes.

    Level 0 is whole. A cell is refined when it is in the tree and its score is above a threshold; its 2^d children are
    in the tree one level finer. The threshold is the lowest, but at least `floor`, with which all nodes fit.

    scores: of the cells of levels 0 … L-2, (base 2^l, …) each; base: cells per axis of level 0 → L boolean grids.
    """
    dims = scores[0].dim() if scores else 1
    ranked = torch.cat([score.flatten() for score in scores]) if scores else torch.zeros(0)
    steps = torch.unique(ranked[ranked > floor])  # rising
    thresholds = [floor, *steps.tolist()]
    low, high = 0, len(thresholds) - 1  # the last refines nothing at all
    while low < high:
        middle = (low + high) // 2
        marked = _tree(scores, base, thresholds[middle], dims)
        low, high = (low, middle) if _count(marked) <= capacity else (middle + 1, high)
    return _tree(scores, base, thresholds[low], dims)


def _tree(scores: list[Tensor], base: int, threshold: float, dims: int) -> list[Tensor]:
    inside = torch.ones((base,) * dims, dtype=torch.bool)
    levels = [touched_nodes(inside)]
    for score in scores:
        inside = _children(inside & (score > threshold))
        levels.append(touched_nodes(inside))
    return levels


def _children(cells: Tensor) -> Tensor:
    """Every cell as its 2^d halves."""
    for axis in range(cells.dim()):
        cells = cells.repeat_interleave(2, dim=axis)
    return cells


def _count(levels: list[Tensor]) -> int:
    return sum(int(level.sum()) for level in levels)


def cell_sums(x: Tensor, values: Tensor, cells: int) -> Tensor:
    """Σ values over the points of every cell. x: (n, d), values: (n, c) → (c, R, …, R)."""
    shape = (values.shape[-1], *(cells,) * x.shape[-1])
    flat = torch.zeros(values.shape[-1], cells ** x.shape[-1], dtype=torch.float64)
    flat.index_add_(1, cell_of(x, cells).cpu(), values.double().cpu().t())
    return flat.view(shape)


def cell_minima(x: Tensor, values: Tensor, cells: int) -> Tensor:
    """The least of the values (n,) over the points of every cell, infinite where there are none: (R, …, R)."""
    flat = torch.full((cells ** x.shape[-1],), float("inf"), dtype=torch.float64)
    flat.scatter_reduce_(0, cell_of(x, cells).cpu(), values.double().cpu(), "amin")
    return flat.view((cells,) * x.shape[-1])
