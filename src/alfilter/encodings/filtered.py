"""What every encoding with a local frequency filter is: features that pass a filter whose place α(x) is learned."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from alfilter.core import total_variation
from alfilter.encodings.alpha_grid import AlphaGrid
from alfilter.encodings.base import Encoding


class FilteredEncoding(Encoding):
    """Features times H(α(x)), a smooth filter along an axis of frequencies on which α is a place.

    alpha: α(x). levels: scales (Fourier) or grid levels, coarse to fine. axis: the length of α's axis. kappa: κ, how
    sharp the filter's edges are.
    """

    alpha: AlphaGrid
    levels: int
    axis: int
    kappa: float

    def forward(self, x: Tensor) -> Tensor:
        return self.filtered(x, self.alpha(x))

    @abstractmethod
    def filtered(self, x: Tensor, alpha: Tensor) -> Tensor:
        """The features at x for a given α there. x: (..., d), alpha: (...) → (..., out_dim)."""

    @abstractmethod
    def response(self, alpha: Tensor) -> Tensor:
        """How much of every level passes at α, in [0, 1]. alpha: (...) → (..., L)."""

    @abstractmethod
    def frequency(self, alpha: Tensor) -> Tensor:
        """The cut-off at α in cycles across the domain, no more than the finest level carries. (...) → (...)."""

    @abstractmethod
    def alpha_at(self, cycles: Tensor) -> Tensor:
        """The α whose cut-off is that many cycles across the domain: the inverse of `frequency`. (...) → (...)."""

    @abstractmethod
    def level_frequencies(self) -> Tensor:
        """The frequency every level carries, in cycles across the domain: (L,)."""

    def responses(self, x: Tensor) -> Tensor:
        """How much of every level passes at x. x: (..., d) → (..., L)."""
        return self.response(self.alpha(x))

    def local_frequency(self, x: Tensor) -> Tensor:
        """The cut-off at x in cycles across the domain. x: (..., d) → (...)."""
        return self.frequency(self.alpha(x))

    def limited(self, x: Tensor, cycles: Tensor) -> Tensor:
        """The features at x with α capped at `cycles` across the domain: min(α(x), α_c). cycles: () or (...)."""
        return self.filtered(x, self.alpha(x).minimum(self.alpha_at(cycles).to(x)))

    def smoothness(self, reduction: str = "sum") -> Tensor:
        return total_variation(self.alpha.values, reduction=reduction) * self.alpha.unit  # type: ignore[arg-type]

    def parsimony(self) -> Tensor:
        """The mean of α over its grid as a share of its axis: what a place pays for the levels that it uses."""
        return self.alpha.values.mean() * (self.alpha.unit / self.axis)

    def filter_parameters(self) -> list[Tensor]:
        return [self.alpha.values]

    def constrain(self) -> None:
        self.alpha.constrain()

    def validate(self) -> None:
        self.alpha.validate()
