"""Instant-NGP's encoding: feature grids at many resolutions, the fine ones folded into hash tables."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.core.hash_grid import Layout, level_cells
from alfilter.encodings.base import Encoding
from alfilter.ops.grid_lookup import lookup
from alfilter.ops.grid_mlp import GridFeatures


class HashGrid(Encoding):
    """[Σ_c w_c(x) T_l[h_l(c)]] for every level l: d-linear interpolation on grids of N_l = ⌊N_min b^l⌋ cells.

    Source: Müller, Evans, Schied, Keller 2022, Eqs. 1 to 4. A level with at most T nodes is a plain grid; above, the
    rows are shared by the spatial hash h and collisions are left to the training.
    Differs from the source in: the domain ([-1, 1] here, mapped to its [0, 1]); nodes at multiples of 1/N_l as in the
    paper's text, not shifted by half a cell as in its code; a level has (N_l+1)^d nodes, no rounding up to eight.

    in_dim: d, 1 to 4. levels: L. features: F per level. base, finest: N_min, N_max, the latter for all axes or for
    each. table: T, a power of two. coordinates: prepend x to the features. bound: features start at U(±bound).

    >>> HashGrid(2, levels=4, features=2, base=4, finest=32, table=256)(torch.zeros(5, 2)).shape
    torch.Size([5, 8])
    """

    def __init__(
        self,
        in_dim: int,
        *,
        levels: int,
        features: int,
        base: int,
        finest: int | tuple[int, ...],
        table: int,
        coordinates: bool = False,
        bound: float = 1e-4,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, levels * features + in_dim * coordinates)
        self.features, self.coordinates = features, coordinates
        sizes = (finest,) * in_dim if isinstance(finest, int) else finest
        self.layout = Layout.of(level_cells(levels, base, sizes), table)
        self.table = nn.Parameter((torch.rand(self.layout.total, features, generator=generator) * 2 - 1) * bound)

    def forward(self, x: Tensor) -> Tensor:
        return lookup(self.table, x, self.layout, coordinates=self.coordinates)

    def compiled_features(self) -> GridFeatures:
        return GridFeatures(self.table, self.layout, coordinates=self.coordinates)

    def by_level(self, x: Tensor) -> Tensor:
        """The features of every level apart. x: (..., d) → (..., L, F)."""
        return lookup(self.table, x, self.layout).view(*x.shape[:-1], -1, self.features)

    def level(self, number: int) -> Tensor:
        """The rows of one level: (rows, F); for a dense one, its grid (N+1)^d in the order of `core.interpolate`."""
        first = self.layout.offsets[number]
        return self.table[first : first + self.layout.rows[number]]
