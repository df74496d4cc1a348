"""What a browser evaluates: a short list of steps, and the numbers they point to."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

PLAIN, SINE, COSINE, GRID = 0, 1, 2, 3  # kinds of features
AXES = 4  # coordinates that a row of numbers has room for
LARGE = 24 << 20  # bytes of numbers in a page, above which its table is rounded


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


def packed(program: Program, large: int = LARGE) -> bytes:
    """The numbers as bytes: float32, or, above `large` bytes, with a grid's table in 16 and if need be 8 bits.

    A rounded table comes last, as whole multiples of a step per level, 1/127 or 1/32767 of the level's largest number;
    `program.steps["rounded"]` says where it belongs, and the steps up to each level's end.
    """
    numbers, grid = program.numbers.astype("<f4"), program.steps.get("grid")
    program.steps["rounded"] = None
    if numbers.nbytes <= large or grid is None:
        return numbers.tobytes()
    first, count = grid["table"]
    rest = np.concatenate([numbers[:first], numbers[first + count :]])
    bits = 16 if rest.nbytes + 2 * count <= large else 8
    starts = [level["first"] * grid["features"] for level in grid["levels"]]
    table, whole, levels = numbers[first : first + count], np.empty(count, f"<i{bits // 8}"), []
    for start, end in pairwise([*starts, count]):
        step = np.float32(np.abs(table[start:end]).max(initial=0.0) / (2 ** (bits - 1) - 1)) or np.float32(1)
        whole[start:end] = np.round(table[start:end] / step)
        levels.append({"end": end, "step": float(step)})
    program.steps["rounded"] = {"first": first, "count": count, "bits": bits, "levels": levels}
    return rest.tobytes() + whole.tobytes()
