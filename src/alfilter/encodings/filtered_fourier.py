"""The paper: Fourier channels that pass through a band filter whose centre α(x) is learned at every place."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from alfilter.core import encoded_dim, scale_response, total_variation
from alfilter.encodings.base import Encoding
from alfilter.ops import filtered_encoding, interpolate


class AlphaGrid(nn.Module):
    """α(x) = I(x; A): a learnable scalar grid over [-1, 1]^d, read in channel units (Eq. grid_interp).

    The parameter holds α / unit. With unit = 1 the optimiser moves in channels; with unit = C_N it moves in shares of
    the channel axis, so that the same learning rate reaches C_N times as far. `low` and `high` bound α: outside
    [-B/2, C_N-1+B/2] every response and every gradient vanishes, and α could never come back.
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


class FilteredFourier(Encoding):
    """γ'(x) = H_B(α(x)) ⊙ γ(x) (Eq. filtered_gamma), and beside it, if asked, the coordinates themselves.

    in_dim: d. levels: L. bandwidth: B in channels. kappa: sharpness κ. resolution: nodes of the α grid per axis.
    start: α at the beginning, in channels. unit, bounded: the α grid's unit and bounds, see `AlphaGrid`.
    coordinates: prepend x to γ' (the paper does not). gain: scale of the first weights on γ' in a sine network,
    relative to SIREN's rule for that many inputs.

    >>> encoding = FilteredFourier(2, levels=8, bandwidth=20.0, kappa=10.0, resolution=(16, 16), start=0.0)
    >>> encoding(torch.zeros(5, 2)).shape
    torch.Size([5, 32])
    """

    def __init__(
        self,
        in_dim: int,
        *,
        levels: int,
        bandwidth: float,
        kappa: float,
        resolution: tuple[int, ...],
        start: float,
        unit: Literal["channel", "axis"] = "channel",
        bounded: bool = True,
        coordinates: bool = False,
        gain: float = 1.0,
    ) -> None:
        channels = encoded_dim(in_dim, levels)
        super().__init__(in_dim, channels + in_dim * coordinates)
        self.levels, self.bandwidth, self.kappa = levels, bandwidth, kappa
        self.coordinates, self.gain = coordinates, gain
        low, high = (-bandwidth / 2, channels - 1 + bandwidth / 2) if bounded else (-math.inf, math.inf)
        self.alpha = AlphaGrid(resolution, start, float(channels) if unit == "axis" else 1.0, low, high)

    def forward(self, x: Tensor) -> Tensor:
        return self.filtered(x, self.alpha(x))

    def filtered(self, x: Tensor, alpha: Tensor) -> Tensor:
        """The features at x for a given α there, in channels. x: (..., d), alpha: (...) → (..., out_dim)."""
        filtered = filtered_encoding(x, alpha, self.levels, self.bandwidth, self.kappa)  # (..., C_N)
        return torch.cat((x, filtered), dim=-1) if self.coordinates else filtered

    def responses(self, x: Tensor) -> Tensor:
        """H̄_j(α(x)) of every dyadic scale. x: (..., d) → (..., L)."""
        return scale_response(self.alpha(x), self.in_dim, self.levels, self.bandwidth, self.kappa)

    def first_bound(self) -> Tensor:
        channels = encoded_dim(self.in_dim, self.levels)
        on_filtered = torch.full((channels,), self.gain / channels)
        if not self.coordinates:
            return on_filtered
        return torch.cat((torch.full((self.in_dim,), 1 / self.in_dim), on_filtered))

    def smoothness(self, reduction: str = "sum") -> Tensor:
        return total_variation(self.alpha.values, reduction=reduction) * self.alpha.unit  # type: ignore[arg-type]

    def constrain(self) -> None:
        self.alpha.constrain()
