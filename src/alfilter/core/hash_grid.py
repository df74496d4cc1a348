"""Grids of features at several resolutions in one table: their sizes, the spatial hash, and the corners of a point.

The multiresolution hash encoding of Müller et al. 2022 (Instant-NGP), for one to four coordinates. A level whose
nodes all fit is stored node by node ("dense"); a finer one shares its rows among the nodes that hash to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import torch
from torch import Tensor

from alfilter.errors import UserError

MOST_AXES = 8  # of a grid, whose cells have 2^d corners
PRIMES = (1, 2654435761, 805459861, 3674653429)  # one per coordinate; the first axis is left as it is, for locality


def level_resolutions(levels: int, base: int, finest: int) -> list[int]:
    """N_l = ⌊N_min b^l⌋ with b = (N_max/N_min)^(1/(L-1)): cells per axis of every level, coarse to fine (Eqs. 2, 3).

    >>> level_resolutions(5, base=16, finest=256)
    [16, 32, 64, 128, 256]
    """
    growth = (finest / base) ** (1 / max(1, levels - 1))
    return [int(base * growth**level * (1 + 1e-12)) for level in range(levels)]  # powers round to a hair below


def level_cells(levels: int, base: int, finest: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Cells of every level along each axis, coarse to fine; the longest axis has `base` cells at first.

    >>> level_cells(3, base=4, finest=(16, 8))
    [(4, 2), (8, 4), (16, 8)]
    """
    longest = max(finest)
    axes = [level_resolutions(levels, max(1, round(base * count / longest)), count) for count in finest]
    return list(zip(*axes, strict=True))


def spatial_hash(corner: Tensor, size: int) -> Tensor:
    """h(c) = (c_1 π_1 ⊕ … ⊕ c_d π_d) mod T (Eq. 4). corner: (..., d) integers, size: T, a power of two → (...).

    >>> spatial_hash(torch.tensor([[3, 0], [3, 1]]), 1 << 14).tolist()
    [3, 14770]
    """
    mixed = corner[..., 0] * PRIMES[0]
    for axis in range(1, corner.shape[-1]):
        mixed = mixed ^ (corner[..., axis] * PRIMES[axis])
    return mixed & (size - 1)


def dense_index(corner: Tensor, cells: tuple[int, ...]) -> Tensor:
    """The row of a node when every node has its own, the last axis fastest. corner: (..., d) → (...).

    >>> dense_index(torch.tensor([[1, 2]]), cells=(4, 4)).tolist()
    [7]
    """
    row = torch.zeros_like(corner[..., 0])
    for axis, count in enumerate(cells):
        row = row * (count + 1) + corner[..., axis]
    return row


@dataclass(frozen=True)
class Layout:
    """Where the nodes of every level are kept in one table.

    cells: per level, the cells along each axis. rows: how many rows each level has. hashed: whether it shares them.
    """

    cells: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    hashed: tuple[bool, ...]

    @classmethod
    def of(cls, cells: list[tuple[int, ...]], largest: int | None = None) -> Layout:
        """Levels of the given cells, each with at most `largest` rows (a power of two; none: as many as nodes)."""
        if len(cells[0]) > MOST_AXES:
            raise UserError(f"a grid has at most {MOST_AXES} coordinates, got {len(cells[0])}; take al-sine or siren")
        nodes = [prod(count + 1 for count in level) for level in cells]
        hashed = tuple(largest is not None and count > largest for count in nodes)
        rows = tuple(largest if share and largest else count for share, count in zip(hashed, nodes, strict=True))
        if sum(rows) >= 1 << 31:
            raise UserError(f"the tables would hold {sum(rows):,} rows; ask for fewer levels or a coarser finest one")
        return cls(tuple(cells), rows, hashed)

    @property
    def dims(self) -> int:
        return len(self.cells[0])

    @property
    def levels(self) -> int:
        return len(self.cells)

    @property
    def total(self) -> int:
        """Rows of all levels."""
        return sum(self.rows)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The first row of every level."""
        return tuple(sum(self.rows[:level]) for level in range(self.levels))


def corners(x: Tensor, layout: Layout, *, snap: float = 0.0) -> tuple[Tensor, Tensor]:
    """Rows and d-linear weights of the 2^d corners of the cell of every point, level by level.

    x: (..., d) in [-1, 1], clamped to it. snap: a place closer than this many cells to a node is taken to be on it.
    → index, weight: (..., L, 2^d) each;
    corner c lies on the far side along axis k where bit k of c is set.

    >>> index, weight = corners(torch.tensor([[-0.5]]), Layout.of([(2,)]))
    >>> index.tolist(), weight.tolist()
    ([[[0, 1]]], [[[0.5, 0.5]]])
    """
    cells = torch.tensor(layout.cells, device=x.device)  # (L, d)
    position = (x.clamp(-1, 1).unsqueeze(-2) + 1) * (cells.to(x.dtype) / 2)  # (..., L, d)
    with torch.no_grad():
        nearest = position.round()
        offset = torch.where((position - nearest).abs() <= snap, nearest - position, 0.0)
    position = position + offset  # the slope on a node is that of the cell beside it
    with torch.no_grad():
        lower = torch.minimum(position.floor(), (cells - 1).clamp(min=0).to(x.dtype)).nan_to_num().long()
    part = position - lower  # (..., L, d), NaN where x is
    rows, weights = [], []
    for bits in product((0, 1), repeat=layout.dims):
        far = bits[::-1]  # product() runs the last place fastest, bit 0 is the first axis
        step = torch.tensor(far, device=x.device)
        rows.append(_rows(torch.minimum(lower + step, cells), layout))
        weights.append(torch.where(step.bool(), part, 1 - part).prod(-1))
    return torch.stack(rows, -1), torch.stack(weights, -1)


def weighted_rows(table: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """Σ_k w_k T[i_k]; an index below zero stands for a row of zeros.

    table: (R, F), index, weight: (..., K) → (..., F). The gradient of the table is a scatter of the same weights.

    >>> weighted_rows(torch.tensor([[1.0], [3.0]]), torch.tensor([[0, 1, -1]]), torch.tensor([[0.5, 0.5, 9.0]]))
    tensor([[2.]])
    """
    rows = table.index_select(0, index.clamp(min=0).reshape(-1)).view(*index.shape, table.shape[1])  # (..., K, F)
    share = torch.where(index >= 0, weight, 0.0)
    return (rows * share.unsqueeze(-1)).sum(-2)


def lookup(table: Tensor, x: Tensor, layout: Layout, nodes: Tensor | None, snap: float, coordinates: bool) -> Tensor:
    """[x,] g_1(x), …, g_L(x) with g_l = Σ_c w_c(x) T[row_l(c)]: every level's d-linear interpolation side by side.

    table: (R, F). x: (..., d), clamped to [-1, 1]. nodes: (total,) int32, the row of every node of the layout, below
    zero where it has none (zeros are read there); without it a node's row is the layout's own. snap: as in
    `hash.corners`. coordinates: whether x comes first. → (..., [d +] L F).

    >>> lookup(torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[-0.5]]), Layout.of([(2,)]), None, 0.0, True)
    tensor([[-0.5000,  2.0000]])
    """
    node, weight = corners(x, layout, snap=snap)
    features = weighted_rows(table, mapped(node, nodes), weight).flatten(-2)
    return torch.cat((x, features), dim=-1) if coordinates else features


def mapped(node: Tensor, nodes: Tensor | None) -> Tensor:
    """The row of every node, where a map of them is given."""
    return node if nodes is None else nodes.index_select(0, node.reshape(-1)).view(node.shape)


def _rows(corner: Tensor, layout: Layout) -> Tensor:
    """The table's row of a node of every level. corner: (..., L, d) → (..., L)."""
    by_level = []
    for level, (cells, rows, first) in enumerate(zip(layout.cells, layout.rows, layout.offsets, strict=True)):
        node = corner[..., level, :]
        index = spatial_hash(node, rows) if layout.hashed[level] else dense_index(node, cells)
        by_level.append(index + first)
    return torch.stack(by_level, -1)
