"""Draws of one low-discrepancy sequence, read through a method's own ranges: no row is chosen by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

SHRUNK = 0.35  # the side of a box around a centre, relative to the whole one (of ranges read on a logarithmic scale)


@dataclass(frozen=True)
class Range:
    """An option's range: read on a logarithmic scale, or a list of choices."""

    low: float = 0.0
    high: float = 0.0
    choices: tuple[Any, ...] = ()

    def at(self, u: float, centre: Any = None) -> Any:
        """The value at u in [0, 1); with a centre, of the smaller range around it, or of a choice's neighbours.

        >>> Range(1.0, 100.0).at(0.5), Range(choices=(4, 8)).at(0.7), Range(1.0, 100.0).at(0.5, centre=80.0)
        (10.0, 8, 45.0)
        """
        if self.choices:
            place = self.choices.index(centre) if centre is not None else 0
            near = self.choices if centre is None else self.choices[max(place - 1, 0) : place + 2]
            return near[int(u * len(near))]
        low, high = math.log(self.low), math.log(self.high)
        if centre is not None:
            side = SHRUNK * (high - low)
            low = min(max(math.log(centre) - side / 2, low), high - side)
            high = low + side
        return float(f"{math.exp(low + u * (high - low)):.2g}")


def draws(count: int, seed: int) -> list[list[float]]:
    """The first points of a scrambled Sobol sequence in [0, 1)^6."""
    from torch.quasirandom import SobolEngine

    engine = SobolEngine(6, scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    return engine.draw(count).tolist()
