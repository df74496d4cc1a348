"""Where the samples of a shape lie and how they count: surface points plus noise whose scales alternate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from alfilter.signals import ShapeSignal

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """Scales alternate: sample i has noise of scale `scales[i mod n]` and weight `weights[i mod n]`.

    scales: of the Laplace noise, in the domain [-1, 1]³, twice those in the source's box. loss: what of an error
    counts. near: the share of samples with the finest scale.
    """

    scales: tuple[float, ...]
    weights: tuple[float, ...]
    loss: Literal["square", "absolute"]

    @property
    def period(self) -> int:
        """After how many samples their kinds repeat."""
        return len(self.scales)

    @property
    def near(self) -> float:
        """The share of the finest samples."""
        return self.scales.count(min(self.scales)) / self.period


# BACON's: Laplace noise of 0.1 and 0.001 in its box alternately, squares, the coarse ones at a hundredth.
SOURCE = Sampling((0.2, 0.002), (0.01, 1.0), "square")
# With a scale between the two: under the source's weights f = 0 is a local minimum that short runs do not leave. The
# widest noise, wrapped, is uniform: the source hardly looks into the corners of the domain, and stray bodies stay
# there.
GRADED = Sampling(
    (0.002, 0.02, 0.002, 0.02, 0.002, 0.02, 0.002, 0.2, 0.002, 2.0),
    (1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.2, 1.0, 0.2),
    "absolute",
)
SAMPLINGS = {"source": SOURCE, "graded": GRADED}


def scatter(signal: ShapeSignal, count: int, rng: np.random.Generator, sampling: Sampling = SOURCE) -> Array:
    """Points (count, 3) around the surface, their scales alternating, wrapped into the domain.

    They are numbers that float32 holds, so that their distances are those of the very points the field sees.
    """
    points = signal.on_surface(count, rng)
    scale = np.resize(sampling.scales, count)[:, None]
    noisy = points + rng.laplace(size=(count, 3)) * scale
    wrapped: Array = ((noisy + 1) % 2 - 1).astype(np.float32).astype(np.float64)
    return wrapped
