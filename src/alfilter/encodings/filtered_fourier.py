"""The paper: Fourier channels that pass through a band filter whose centre α(x) is learned at every place."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from alfilter.core import dyadic_rates, encoded_dim, scale_response
from alfilter.encodings.alpha_grid import AlphaGrid
from alfilter.encodings.filtered import FilteredEncoding
from alfilter.encodings.placement import ENDS, Placement
from alfilter.ops import filtered_encoding
from alfilter.ops.fourier_mlp import BandFilter, FourierFeatures


class FilteredFourier(FilteredEncoding):
    """γ'(x) = H_B(α(x)) ⊙ γ(x) (Eq. filtered_gamma), and beside it, if asked, the coordinates themselves.

    in_dim: d. levels: L. bandwidth: B in channels. kappa: sharpness κ. resolution: nodes of the α grid per axis.
    start: α at the beginning, in channels. unit, bounded: the α grid's unit and bounds, see `AlphaGrid`.
    coordinates: prepend x to γ' (the paper does not). gain: scale of the first weights on γ' in a sine network,
    relative to SIREN's rule for that many inputs. placement: where γ sees the samples, see `Placement`; the α grid's
    ends sit on the first and last sample in any case.

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
        placement: Placement = ENDS,
    ) -> None:
        channels = encoded_dim(in_dim, levels)
        super().__init__(in_dim, channels + in_dim * coordinates)
        self.levels, self.bandwidth, self.kappa, self.axis = levels, bandwidth, kappa, channels
        self.coordinates, self.gain, self.placement = coordinates, gain, placement
        low, high = (-bandwidth / 2, channels - 1 + bandwidth / 2) if bounded else (-math.inf, math.inf)
        self.alpha = AlphaGrid(resolution, start, float(channels) if unit == "axis" else 1.0, low, high)

    def filtered(self, x: Tensor, alpha: Tensor) -> Tensor:
        """The features at x for a given α there, in channels. x: (..., d), alpha: (...) → (..., out_dim)."""
        filtered = filtered_encoding(
            self.placement.inside(x), alpha, self.levels, self.bandwidth, self.kappa
        )  # (..., C_N)
        return torch.cat((x, filtered), dim=-1) if self.coordinates else filtered

    def compiled_features(self) -> FourierFeatures:
        band = BandFilter(self.alpha.values, self.alpha.unit, self.bandwidth, self.kappa)
        rates, place = dyadic_rates(self.in_dim, self.levels), self.placement
        return FourierFeatures(rates, place.scale, place.shift, coordinates=self.coordinates, filter=band)

    def response(self, alpha: Tensor) -> Tensor:
        """H̄_j(α) of every dyadic scale. alpha: (...) → (..., L)."""
        return scale_response(alpha, self.in_dim, self.levels, self.bandwidth, self.kappa)

    def frequency(self, alpha: Tensor) -> Tensor:
        """The cycles of the scale j whose 2d channels have the band's upper edge α + B/2 in their middle."""
        scale = (alpha + self.bandwidth / 2 + 0.5) / (2 * self.in_dim) - 0.5
        return self.placement.cycles * torch.exp2(scale.clamp(max=self.levels - 1))

    def alpha_at(self, cycles: Tensor) -> Tensor:
        cycles = torch.as_tensor(cycles, dtype=torch.get_default_dtype()) / self.placement.cycles
        scale = torch.log2(cycles.clamp(min=1e-6))
        place = 2 * self.in_dim * (scale + 0.5) - 0.5 - self.bandwidth / 2
        return torch.where(scale >= self.levels - 1, self.alpha.high, place.clamp(min=self.alpha.low))

    def level_frequencies(self) -> Tensor:
        return self.placement.cycles * torch.exp2(torch.arange(self.levels, dtype=torch.get_default_dtype()))

    def first_bound(self) -> Tensor:
        channels = encoded_dim(self.in_dim, self.levels)
        on_filtered = torch.full((channels,), self.gain / channels)
        if not self.coordinates:
            return on_filtered
        return torch.cat((torch.full((self.in_dim,), 1 / self.in_dim), on_filtered))
