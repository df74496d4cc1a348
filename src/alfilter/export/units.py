"""The user's own units around a field: where a place lies in its domain, and what its values mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.geometry.frame import Frame

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """x = (place - centre) / half, clipped to the domain or not; value = v ⋅ span + low.

    centre, half: (d,). low, span: (c,). wide: whether places need more digits than a float32 has. places, values: what
    they are, in words.
    """

    centre: Array
    half: Array
    low: Array
    span: Array
    clipped: bool
    wide: bool
    places: str
    values: str

    def outward(self, x: Array) -> Array:
        """Places of the domain (n, d) in the user's units."""
        return x * self.half + self.centre


def units_of(facts: dict[str, Any], in_dim: int, out_dim: int) -> Units:
    """The units of a fitted signal, from the facts that its model keeps; those of the domain where it keeps none.

    >>> units = units_of({"kind": "image", "shape": [3, 5], "low": 0.0, "high": 255.0}, 2, 1)
    >>> units.outward(np.array([[1.0, 1.0]])).tolist(), units.span.tolist()
    ([[2.0, 4.0]], [255.0])
    """
    kind = facts.get("kind")
    ones = np.ones(out_dim)
    if kind == "points":
        bounds = [np.array(facts[name], np.float64) for name in ("low", "high", "value_low", "value_high")]
        low, high, value_low, value_high = bounds
        places, values = (", ".join(facts[name]) for name in ("coords", "values"))
        return Units((low + high) / 2, (high - low) / 2, value_low, value_high - value_low, True, True,
                     f"{places} as in the table", f"{values} as in the table")  # fmt: skip
    if kind == "shape":
        frame = Frame.read(facts.get("frame"))
        return Units(np.array(frame.offset), np.full(3, frame.scale), 0 * ones, frame.scale * ones, False, True,
                     "x, y, z as in the mesh", "the signed distance in the mesh's units, below 0 inside")  # fmt: skip
    if "shape" in facts:
        last = np.array(facts["shape"], np.float64) - 1
        least, most = float(facts["low"]), float(facts["high"])
        return Units(last / 2, np.where(last > 0, last / 2, 1.0), least * ones, (most - least) * ones, False, False,
                     "positions along the array's axes, rows first: 0 is the first sample, n - 1 the last",
                     f"as in the fitted file, {least:g} to {most:g}")  # fmt: skip
    centre, half = np.zeros(in_dim), np.ones(in_dim)
    words = "coordinates from -1 to 1", "the field's own"
    return Units(centre, half, 0 * ones, ones, False, False, *words)
