"""Three frames: the user's, the source's box [-0.5, 0.5]³, and the domain [-1, 1]³ of every field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError

Array = NDArray[np.float64]
REACH = 0.9  # the largest coordinate of a shape in the domain; 0.45 in the source's box


@dataclass(frozen=True)
class Frame:
    """domain = (user - offset) / scale, and source = domain / 2.

    The source of the protocol (BACON) subtracts the mean of the vertices, then maps the least and the greatest of all
    coordinates, over the three axes together, to -0.45 and 0.45 of a box [-0.5, 0.5]³. The domain is that box times
    two, so that an α grid covers all of it. One scale for all axes: shapes keep their proportions, and a distance in
    the user's units is `scale` times one in the domain.

    >>> frame = Frame.around(np.array([[0.0, 0, 0], [10, 4, 2], [2, 2, 1]]))
    >>> float(frame.into(np.array([[10.0, 4, 2]])).max())
    0.9
    """

    offset: tuple[float, float, float]
    scale: float

    @classmethod
    def around(cls, points: Array) -> Frame:
        """The frame of a shape with these vertices (n, 3)."""
        mean = points.mean(axis=0)
        low, high = float((points - mean).min()), float((points - mean).max())
        scale = (high - low) / (2 * REACH)
        if not scale > 0 or not np.isfinite(scale):
            raise UserError("the shape has no extent: all its points are one; give a shape with a volume")
        x, y, z = (float(m) + low + REACH * scale for m in mean)
        return cls((x, y, z), scale)

    def into(self, points: Array) -> Array:
        """User's coordinates (n, 3) in the domain."""
        return (points - self.offset) / self.scale

    def back(self, points: Array) -> Array:
        """Coordinates of the domain (n, 3) in the user's units."""
        return points * self.scale + self.offset

    def describe(self) -> dict[str, Any]:
        """For a model file."""
        return {"offset": list(self.offset), "scale": self.scale}

    @classmethod
    def read(cls, facts: Any) -> Frame:
        """The frame a model file keeps."""
        try:
            x, y, z = (float(v) for v in facts["offset"])
            scale = float(facts["scale"])
        except (KeyError, TypeError, ValueError) as error:
            raise UserError("the model does not say where its shape stands; fit it again") from error
        if not np.isfinite([x, y, z, scale]).all() or scale <= 0:
            raise UserError("the model's frame is not finite; fit it again")
        return cls((x, y, z), scale)
