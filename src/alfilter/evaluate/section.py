"""A plane through a grid of any dimension: which two of its axes a screen shows, and where the others are held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate.scores import Evaluate, evaluator
from alfilter.signals import GridSignal


@dataclass(frozen=True)
class Layout:
    """How a kind of signal is laid on a screen.

    noun, sample: what it and one of its samples are called. axes: the names of its axes. planes: the pairs of axes
    (downwards, to the right) that a screen can show, the usual one first. time: the axis that can be played.
    """

    noun: str
    sample: str
    axes: tuple[str, ...]
    planes: tuple[tuple[int, int], ...]
    time: int | None = None


LAYOUTS = {
    "image": Layout("picture", "pixel", ("row", "column"), ((0, 1),)),
    "volume": Layout("volume", "voxel", ("axis 0", "axis 1", "axis 2"), ((1, 2), (0, 2), (0, 1))),
    "video": Layout("video", "pixel", ("frame", "row", "column"), ((1, 2), (0, 2), (0, 1)), time=0),
    "lightfield": Layout("light field", "pixel", ("u", "v", "row", "column"), ((2, 3), (1, 3), (0, 2))),
}


@dataclass(frozen=True)
class Section:
    """A plane through a grid of `shape`: the axes it shows, and the places of all others, in samples and their order.

    >>> Section((9, 4, 6), (0, 2), (1.5,)).size
    (9, 6)
    """

    shape: tuple[int, ...]
    plane: tuple[int, int]
    places: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.places) != len(self.held):
            raise UserError(f"a plane holds {len(self.held)} axes, got {len(self.places)} places; give one for each")
        for axis, place in zip(self.held, self.places, strict=True):
            if not 0 <= place <= self.shape[axis] - 1:
                raise UserError(f"axis {axis} is held between 0 and {self.shape[axis] - 1}, got {place:g}")

    @property
    def held(self) -> tuple[int, ...]:
        """The axes that are not shown."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.plane)

    @property
    def size(self) -> tuple[int, int]:
        """Samples of the plane, downwards and to the right."""
        return self.shape[self.plane[0]], self.shape[self.plane[1]]

    def coordinates(self, row: float, column: float) -> list[float]:
        """The coordinates in [-1, 1]^d of a place of the plane, given in samples.

        >>> Section((9, 4, 7), (0, 2), (1.5,)).coordinates(8, 3)
        [1.0, 0.0, 0.0]
        """
        places = dict(zip((*self.held, *self.plane), (*self.places, row, column), strict=True))
        return [_coordinate(places[axis], n) for axis, n in enumerate(self.shape)]

    def through(self, function: Evaluate) -> Evaluate:
        """A function of the whole grid's coordinates as one of the plane's: (..., 2) → (..., c)."""
        if self.plane == (0, 1) and len(self.shape) == 2:
            return function
        middle, values = self.coordinates(0, 0), evaluator(function)

        def on_plane(x: Tensor) -> Tensor:
            whole = x.new_tensor(middle).expand(*x.shape[:-1], len(middle)).clone()
            whole[..., self.plane[0]], whole[..., self.plane[1]] = x[..., 0], x[..., 1]
            return values(whole)

        return on_plane

    def of(self, signal: GridSignal) -> GridSignal:
        """The plane of a signal; axes are held at the nearest sample."""
        index: list[int | slice] = [slice(None)] * len(self.shape)
        for axis, place in zip(self.held, self.places, strict=True):
            index[axis] = int(np.floor(place + 0.5))
        data = signal.data[tuple(index)]
        if self.plane[0] > self.plane[1]:
            data = data.swapaxes(0, 1)
        return GridSignal(data, mode=signal.mode, bits=signal.bits, span=(signal.low, signal.high))


def _coordinate(place: float, samples: int) -> float:
    """The coordinate in [-1, 1] of a place in samples."""
    return (2 * place - (samples - 1)) / max(1, samples - 1)
