"""α(x): the filter's cut-off as a learnable scalar grid over the domain."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.ops import interpolate


class AlphaGrid(nn.Module):
    """α(x) = I(x; A): a learnable scalar grid over [-1, 1]^d, read in units of the filter's axis (Eq. grid_interp).

    The axis is that of the encoded channels (`FilteredFourier`) or of a grid's levels (`FilteredGrid`). The parameter
    holds α / unit. With unit = 1 the optimiser moves in channels or levels; with unit = the axis' length it moves in
    shares of the axis, so that the same learning rate reaches that many times as far. `low` and `high` bound α: far
    outside the axis every response and every gradient decays to nothing, and α could not come back.

    >>> AlphaGrid((4, 4), start=2.0, unit=8.0, low=-1.0, high=8.5)(torch.zeros(3, 2))
    tensor([2., 2., 2.], grad_fn=<MulBackward0>)
    """

    def __init__(self, resolution: tuple[int, ...], start: float, unit: float, low: float, high: float) -> None:
        super().__init__()
        self.unit, self.low, self.high = unit, low, high
        self.values = nn.Parameter(torch.full((*resolution, 1), min(max(start, low), high) / unit))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d) → α: (...)."""
        return interpolate(self.values, x).squeeze(-1) * self.unit

    def constrain(self) -> None:
        with torch.no_grad():
            self.values.clamp_(self.low / self.unit, self.high / self.unit)
