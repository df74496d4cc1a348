"""Where a dyadic encoding sees the samples of a signal: the borders of a periodic γ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

Where = Literal["ends", "centres", "unit"]


@dataclass(frozen=True)
class Placement:
    """The affine map x → a x + b before γ, for coordinates whose ends -1 and 1 are the first and last sample.

    γ has the period 2, so γ(-1) = γ(1): with `ends` (a = 1) the features of opposite borders coincide. With `centres`
    an axis of n samples is one period of n cells and a sample is the centre of its cell, a = 1 - 1/n: the last sample
    is the neighbour of the first and not the same place. With `unit` the domain is [0, 1], half a period, as NeRF's
    descendants have it: a = b = ½, and half as many cycles across the domain.

    scale: a along each axis, or one for all. shift: b.

    >>> Placement.of("centres", (4, 8)).scale
    (0.75, 0.875)
    >>> import torch
    >>> Placement.of("unit").inside(torch.tensor([[-1.0, 0.5]]))
    tensor([[0.0000, 0.7500]])
    """

    scale: tuple[float, ...] = (1.0,)
    shift: float = 0.0

    @classmethod
    def of(cls, where: Where, samples: tuple[int, ...] | None = None) -> Placement:
        """The map for a signal with that many samples along each axis; one without a grid has no cells and no rim."""
        if where == "unit":
            return cls((0.5,), 0.5)
        return cls(tuple(1 - 1 / n for n in samples)) if where == "centres" and samples else ENDS

    @property
    def cycles(self) -> float:
        """Cycles across the domain, borders included, of the scale 2^0."""
        return 0.5 if self.shift else 1.0

    def inside(self, x: Tensor) -> Tensor:
        """What γ is computed of. x: (..., d) → (..., d)."""
        if self == ENDS:
            return x
        return x * x.new_tensor(self.scale) + self.shift


ENDS = Placement()
