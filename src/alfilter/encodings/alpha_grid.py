"""α(x): the filter's cut-off as a learnable scalar grid over the domain."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.errors import UserError
from alfilter.ops import interpolate

_FARTHEST = 2.0**30  # α without bounds: compiled code turns it into a channel's number


class AlphaGrid(nn.Module):
    """α(x) = I(x; A): a learnable scalar grid over [-1, 1]^d, read in units of the filter's axis (Eq. grid_interp).

    The axis is that of the encoded channels (`FilteredFourier`) or of a grid's levels (`FilteredGrid`). The parameter
    holds α / unit. With unit = 1 the optimiser moves in channels or levels; with unit = the axis' length it moves in
    shares of the axis, so that the same learning rate reaches that many times as far. `low` and `high` bound α: far
    outside the axis every response and every gradient decays to zero, and α could not return.

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

    def validate(self) -> None:
        """Refuse α outside its bounds, or, without any, beyond what a whole number can count."""
        low, high = max(self.low, -_FARTHEST), min(self.high, _FARTHEST)
        least, most = (float(end) * self.unit for end in self.values.detach().aminmax())
        slack = 1e-5 * max(1.0, abs(low), abs(high))  # bounds are rounded to the grid's unit
        if not low - slack <= least <= most <= high + slack:  # also false for NaN
            raise UserError(f"α lies between {low:g} and {high:g} here, got {least:g} to {most:g}")
