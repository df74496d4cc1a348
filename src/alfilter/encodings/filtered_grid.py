"""The paper's filter on a learned grid: the levels of a multiresolution grid pass where the signal needs them."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from alfilter.core.filter import level_response
from alfilter.core.hash_grid import Layout, level_cells
from alfilter.encodings.alpha_grid import AlphaGrid
from alfilter.encodings.filtered import FilteredEncoding
from alfilter.ops.grid_lookup import filtered_lookup, lookup
from alfilter.ops.grid_mlp import GridFeatures, LevelFilter


class FilteredGrid(FilteredEncoding):
    """f'_j(x) = H_j(α(x)) f_j(x) for the levels j of a multiresolution grid (`HashGrid`), α in level units.

    H_j(α) = σ(κ(α - j + ½)) passes the levels below α: the low-pass limit of the paper's H_B, to which a finite
    `bandwidth` B (in levels) returns. A level of N_j cells (along the
    longest axis) carries N_j/2 cycles across the domain, so α is a cut-off
    frequency: N(α)/2 with N(α) = N_min b^α. α starts open (`start` none: every level passes), since a level that is
    closed gets no gradient.

    in_dim: d, 1 to 4. levels, features, base, finest, table: of the grid, see `HashGrid`. resolution: nodes of the α
    grid along each axis. rate: how far the learning rate moves α, in shares of the axis.

    >>> grid = FilteredGrid(2, levels=4, features=2, base=4, finest=32, table=256, resolution=(8, 8))
    >>> grid(torch.zeros(5, 2)).shape, grid.local_frequency(torch.zeros(1, 2)).tolist()
    (torch.Size([5, 8]), [16.0])
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
        resolution: tuple[int, ...],
        kappa: float = 2.0,
        bandwidth: float | None = None,
        start: float | None = None,
        rate: float = 1.0,
        bound: float = 1e-4,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, levels * features)
        self.levels, self.features, self.axis = levels, features, levels
        sizes = (finest,) * in_dim if isinstance(finest, int) else finest
        self.base, self.finest, self.kappa, self.bandwidth = base, max(sizes), kappa, bandwidth
        self.layout = Layout.of(level_cells(levels, base, sizes), table)
        self.table = nn.Parameter((torch.rand(self.layout.total, features, generator=generator) * 2 - 1) * bound)
        low, high = -1.0, levels + 0.5
        self.alpha = AlphaGrid(resolution, levels if start is None else start, levels * rate, low, high)

    def filtered(self, x: Tensor, alpha: Tensor) -> Tensor:
        if self.bandwidth is None:
            return filtered_lookup(self.table, x, alpha, self.layout, self.kappa)
        features = self.by_level(x)
        return (features * self.response(alpha).unsqueeze(-1)).flatten(-2)

    def compiled_features(self) -> GridFeatures | None:
        """None for a finite band, whose response is a difference."""
        if self.bandwidth is not None:
            return None
        level_filter = LevelFilter(self.alpha.values, self.alpha.unit, self.kappa)
        return GridFeatures(self.table, self.layout, filter=level_filter)

    def by_level(self, x: Tensor) -> Tensor:
        """The features of every level before the filter. x: (..., d) → (..., L, F)."""
        return lookup(self.table, x, self.layout).view(*x.shape[:-1], self.levels, self.features)

    def response(self, alpha: Tensor) -> Tensor:
        return level_response(alpha, self.levels, self.kappa, self.bandwidth)

    def frequency(self, alpha: Tensor) -> Tensor:
        return self.base / 2 * torch.exp(self._growth() * alpha.clamp(max=self.levels - 1))

    def alpha_at(self, cycles: Tensor) -> Tensor:
        cycles = torch.as_tensor(cycles, dtype=torch.get_default_dtype())
        if not self._growth():
            return torch.where(2 * cycles >= self.base, float(self.levels), -1.0)
        place = torch.log(2 * cycles.clamp(min=1e-6) / self.base) / self._growth()
        return torch.where(2 * cycles >= self.finest, self.alpha.high, place.clamp(min=self.alpha.low))

    def level_frequencies(self) -> Tensor:
        return torch.tensor([max(cells) / 2 for cells in self.layout.cells])

    def _growth(self) -> float:
        """log b, the factor from level to level."""
        return math.log(self.finest / self.base) / max(1, self.levels - 1)
