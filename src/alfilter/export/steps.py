"""What a browser evaluates: a short list of steps, and the numbers they point to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

PLAIN, SINE, COSINE, GRID = 0, 1, 2, 3  # kinds of features
AXES = 4  # coordinates that a row of numbers has room for


@dataclass
class Program:
    """What the page evaluates: `steps` as JSON, whose [first, count] entries point into `numbers` (float32)."""

    steps: dict[str, Any] = field(default_factory=dict)
    parts: list[Floats] = field(default_factory=list)
    size: int = 0

    def store(self, numbers: Any) -> list[int]:
        """Append numbers; returns where they are: [first, count]."""
        flat = np.ascontiguousarray(numbers, np.float32).reshape(-1)
        self.parts.append(flat)
        self.size += flat.size
        return [self.size - flat.size, flat.size]

    @property
    def numbers(self) -> Floats:
        return np.concatenate(self.parts)
