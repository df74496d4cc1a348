"""NGLOD's encoding: features on the corners of an octree that is fine only where the signal asks for it."""

from __future__ import annotations

from math import prod
from typing import Literal

import torch
from torch import Tensor, nn

from alfilter.core.hash_grid import Layout
from alfilter.core.octree import cell_minima, cell_sums, coarsen, detail, nearness, reached_cells, refine
from alfilter.encodings.base import Encoding, Situation
from alfilter.errors import UserError
from alfilter.ops.grid_lookup import lookup
from alfilter.ops.grid_mlp import GridFeatures

_MOST_NODES = 1 << 25  # of all levels together, whether they hold features or not


class Octree(Encoding):
    """[x, g_0(x), …, g_{L-1}(x)]: per level of detail, the d-linear interpolation of features on its occupied nodes.

    Source: Takikawa et al. 2021 (NGLOD). Level l has N_0 2^l cells per axis; level 0 is whole, a finer cell exists only
    where its parent was refined, and levels add up (the decoder sums them). Before the first step the tree is built
    from the signal: around the zero of a distance (`surface`: cells with a sample closer to it than their diagonal) or
    where values differ most within a cell (`detail`: those whose Σ|v - v̄|² is largest), as far as the rows reach.
    Differs from the source in: any d; rows are a budget fixed in advance instead of as many as the surface needs; an
    unoccupied corner counts as zero instead of ending the cell, so the field is continuous where refinement ends, and a
    level reaches half-way into the cells around its own.

    in_dim: d. levels: L. base: N_0. features: F. capacity: rows of the table, for all levels together. rule: what makes
    a cell worth refining; auto is `surface` for one value of both signs in three dimensions.

    >>> Octree(2, levels=3, base=4, features=2, capacity=200)(torch.zeros(5, 2)).shape
    torch.Size([5, 8])
    """

    rows: Tensor

    def __init__(
        self,
        in_dim: int,
        *,
        levels: int,
        base: int,
        features: int,
        capacity: int,
        rule: Literal["auto", "surface", "detail"] = "auto",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, in_dim + levels * features)
        self.levels, self.base, self.features, self.rule = levels, base, features, rule
        nodes = sum((base * 2**level + 1) ** in_dim for level in range(levels))
        if nodes > _MOST_NODES:
            raise UserError(
                f"{levels} levels from {base} cells have {nodes:,} nodes in {in_dim}-D; ask for fewer levels"
            )
        if capacity < (base + 1) ** in_dim:
            raise UserError(f"the first level alone takes {(base + 1) ** in_dim} rows, got {capacity}; give more rows")
        self.layout = Layout.of([(base * 2**level,) * in_dim for level in range(levels)])
        self.table = nn.Parameter(torch.randn(min(capacity, nodes), features, generator=generator) * 0.01)
        # the row of every node of every level, -1 where it has none; before a signal is seen, as many levels as fit
        self.register_buffer("rows", torch.full((self.layout.total,), -1, dtype=torch.int32))
        whole = [level for level, end in enumerate(self._ends()) if end <= len(self.table)]
        self._occupy([torch.full(self._shape(level), level in whole) for level in range(levels)])

    def forward(self, x: Tensor) -> Tensor:
        return lookup(self.table, x, self.layout, nodes=self.rows, coordinates=True)

    def compiled_features(self) -> GridFeatures:
        return GridFeatures(self.table, self.layout, nodes=self.rows, coordinates=True)

    def by_level(self, x: Tensor) -> Tensor:
        """The features of every level apart. x: (..., d) → (..., L, F)."""
        return lookup(self.table, x, self.layout, nodes=self.rows).view(*x.shape[:-1], -1, self.features)

    def refined(self, level: int) -> Tensor:
        """The cells where a level adds something: (N_0 2^l, …) booleans."""
        return reached_cells(self._nodes(level) >= 0)

    def used(self) -> int:
        """How many rows of the table belong to a node."""
        return int((self.rows >= 0).sum())

    def adapt(self, situation: Situation) -> None:
        """Build the tree from the signal, once, before the first step."""
        if situation.step > 0 or self.levels == 1:
            return
        finest = self.base * 2 ** (self.levels - 2)  # the cells that may still be refined
        sums: Tensor | float = 0.0
        nearest = torch.full((finest,) * self.in_dim, float("inf"), dtype=torch.float64)
        below, above, channels = False, False, 0
        for x, values in situation.samples():
            channels = values.shape[-1]
            parts = (torch.ones_like(values[:, :1]), values.square().sum(-1, keepdim=True), values)
            sums = sums + cell_sums(x, torch.cat(parts, -1), finest)
            nearest = torch.minimum(nearest, cell_minima(x, values.abs().amin(-1), finest))
            below, above = below or bool((values < 0).any()), above or bool((values > 0).any())
        assert isinstance(sums, Tensor)
        surface = self.in_dim == 3 and channels == 1 and below and above
        if self.rule == "surface" or (self.rule == "auto" and surface):
            scores = [nearness(grid, len(grid)) for grid in _levels([nearest], "amin", self.levels - 1)[0]]
            self._occupy(refine(scores, self.base, -1.0, len(self.table)))
        else:
            number, square, *totals = _levels(list(sums), "sum", self.levels - 1)
            scores = [detail(number[i], torch.stack([t[i] for t in totals]), square[i]) for i in range(len(number))]
            self._occupy(refine(scores, self.base, 0.0, len(self.table)))

    def validate(self) -> None:
        """Refuse rows that are not in the table."""
        least, most = (int(end) for end in self.rows.aminmax())
        if least < -1 or most >= len(self.table):
            raise UserError(f"a node's row is -1 or below {len(self.table)}, got {least} to {most}")

    def _occupy(self, marked: list[Tensor]) -> None:
        """Give the marked nodes of every level their rows, coarse to fine."""
        flat = torch.cat([level.flatten() for level in marked])
        rows = torch.where(flat, flat.cumsum(0) - 1, -1)
        self.rows.copy_(rows)

    def _nodes(self, level: int) -> Tensor:
        first = self.layout.offsets[level]
        return self.rows[first : first + self.layout.rows[level]].view(self._shape(level))

    def _shape(self, level: int) -> tuple[int, ...]:
        return tuple(cells + 1 for cells in self.layout.cells[level])

    def _ends(self) -> list[int]:
        """Rows that all levels up to and including each one would need if they were complete."""
        ends = [prod(self._shape(level)) for level in range(self.levels)]
        return [sum(ends[: level + 1]) for level in range(self.levels)]


def _levels(grids: list[Tensor], reduction: str, levels: int) -> list[list[Tensor]]:
    """Each grid at its own and all coarser levels, coarse to fine."""
    pyramid = []
    for grid in grids:
        by_level = [grid]
        for _ in range(levels - 1):
            by_level.insert(0, coarsen(by_level[0], reduction))
        pyramid.append(by_level)
    return pyramid
