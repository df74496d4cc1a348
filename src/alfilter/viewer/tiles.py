"""Tiles: a square of screen pixels, evaluated from the field at exactly those pixels.

At zoom z a sample of the picture is s = 2^(z/8) screen pixels wide. Sample i sits in the middle of its square, so
screen pixel p lies at the place (p + 1/2)/s - 1/2, in samples; at s = 1 places are samples. The picture is ⌈n s⌉ screen
pixels long, and tile k of an axis holds the pixels 128 k … 128 k + 127 of them.

Below s = 1 a screen pixel covers several samples, and shows the mean over k × k places in its square, k = ⌈1/s⌉ and at
most 4: one place alone would alias.
"""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate import sample_axes
from alfilter.methods import Field

TILE = 128  # screen pixels per side: the first one is ready after a tenth of a second
OCTAVE = 8  # zoom steps that double the scale
MAX_ZOOM, MIN_ZOOM = 24 * OCTAVE, -6 * OCTAVE
MAX_SUBSAMPLES = 4  # places along each axis that a pixel is the mean of
_FINE = 4e-6  # a step between pixels, in coordinates, below which float32 does not resolve them

Shape = tuple[int, int]
Evaluate = Callable[[Tensor], Tensor]
Draw = Callable[[Tensor, Tensor], NDArray[Any]]


@dataclass(frozen=True)
class TileIndex:
    """Which tile: the zoom step, and the tile's row and column at that zoom."""

    zoom: int
    row: int
    column: int

    @property
    def scale(self) -> float:
        """Screen pixels per sample.

        >>> TileIndex(16, 0, 0).scale, TileIndex(-8, 0, 0).scale
        (4.0, 0.5)
        """
        return float(2 ** (self.zoom / OCTAVE))

    def spans(self, shape: Shape) -> tuple[range, range]:
        """The screen pixels of the tile, rows and columns, cut at the picture's end.

        >>> TileIndex(0, 1, 0).spans((150, 100))
        (range(128, 150), range(0, 100))
        """
        if not MIN_ZOOM <= self.zoom <= MAX_ZOOM:
            raise UserError(f"a zoom lies between {MIN_ZOOM} and {MAX_ZOOM}, got {self.zoom}")
        spans = []
        for number, samples in zip((self.row, self.column), shape, strict=True):
            end = extent(samples, self.scale)
            if not 0 <= number * TILE < end:
                raise UserError(f"tile {number} lies outside the picture's {end} pixels at zoom {self.zoom}")
            spans.append(range(number * TILE, min(end, (number + 1) * TILE)))
        return spans[0], spans[1]

    @property
    def places_per_pixel(self) -> int:
        """Along each axis: one from scale 1 on, enough for every sample below, down to a fourth.

        >>> [TileIndex(zoom, 0, 0).places_per_pixel for zoom in (0, -1, -8, -12, -16, -48)]
        [1, 2, 2, 3, 4, 4]
        """
        return min(MAX_SUBSAMPLES, max(1, math.ceil(1 / self.scale - 1e-6)))

    def places(self, shape: Shape, each: int = 1) -> tuple[Tensor, Tensor]:
        """Rows and columns of the tile's pixels, in samples of the picture, float64; `each` of them per pixel, evenly.

        Of several, none lies beyond the picture's edge.

        >>> TileIndex(-8, 0, 0).places((4, 4), 2)[0].tolist()
        [0.0, 1.0, 2.0, 3.0]
        """
        rows, columns = (
            (torch.arange(span.start * each, span.stop * each, dtype=torch.float64) + 0.5) / (self.scale * each) - 0.5
            for span in self.spans(shape)
        )
        if each == 1:
            return rows, columns
        return rows.clamp(max=shape[0] - 0.5), columns.clamp(max=shape[1] - 0.5)

    def touches(self, box: tuple[float, float, float, float]) -> bool:
        """Whether the tile shows anything of a box (top, left, bottom, right), in samples."""
        size = TILE / self.scale
        top, left = self.row * size - 0.5, self.column * size - 0.5
        return top <= box[2] and left <= box[3] and box[0] <= top + size and box[1] <= left + size


def extent(samples: int, scale: float) -> int:
    """Screen pixels an axis covers: ⌈n s⌉, with a tolerance for the rounding of s.

    >>> extent(100, 1.0), extent(100, 0.255)
    (100, 26)
    """
    return max(1, math.ceil(samples * scale - 1e-6))


def axes_of(index: TileIndex, shape: Shape, each: int = 1) -> list[Tensor]:
    """Coordinates of a tile's rows and columns; float64 where float32 could not tell neighbours apart."""
    axes = [
        (2 * places - (samples - 1)) / max(1, samples - 1)
        for places, samples in zip(index.places(shape, each), shape, strict=True)
    ]
    return axes if needs_float64(index, shape) else [axis.float() for axis in axes]


def needs_float64(index: TileIndex, shape: Shape) -> bool:
    """Whether a tile is magnified so much that float32 cannot tell its pixels' coordinates apart."""
    return 2 / max(1, max(shape) - 1) / index.scale < _FINE


def evaluate(function: Evaluate, index: TileIndex, shape: Shape) -> NDArray[Any]:
    """A function of coordinates on the pixels of a tile, one place each: (rows, columns, c)."""
    return sample_axes(function, axes_of(index, shape)).numpy()


def evaluate_mean(function: Evaluate, index: TileIndex, shape: Shape, check_wanted: Callable[[], None]) -> NDArray[Any]:
    """The same, as the mean over each pixel's places where it covers several samples: (rows, columns, c).

    check_wanted: called between the parts of the work; raises when nobody waits for the result any more.
    """
    each = index.places_per_pixel
    axes = axes_of(index, shape, each)
    return pixel_means(lambda *part: sample_axes(function, part).numpy(), axes, each, check_wanted)


def pixel_means(draw: Draw, axes: Sequence[Tensor], each: int, check_wanted: Callable[[], None]) -> NDArray[Any]:
    """What `draw` makes of places (each r, each c), as means over each × each of them: (r, c, channels).

    >>> numbers = lambda rows, columns: (4 * rows[:, None] + columns).unsqueeze(-1).numpy()
    >>> pixel_means(numbers, [torch.arange(2.0), torch.arange(4.0)], 2, lambda: None).ravel().tolist()
    [2.5, 4.5]
    """
    rows, columns = axes
    if each == 1:
        return draw(rows, columns)
    means: list[NDArray[Any]] = []
    for first in range(each):  # one row of every pixel's places at a time: less memory, and soon cancelled
        check_wanted()
        values = draw(rows[first::each], columns)
        means.append(values.reshape(len(values), -1, each, values.shape[-1]).mean(2))
    mean: NDArray[Any] = np.mean(means, axis=0)
    return mean


def in_float64(field: Field) -> Field:
    """The same field in float64, for places that float32 cannot tell apart."""
    return copy.deepcopy(field).double()


def as_uint16(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Values clipped to [0, 1] as little-endian 16-bit integers: fine enough to measure 90 dB.

    >>> as_uint16(np.array([-1.0, 0.5, 1.0])).tolist()
    [0, 32768, 65535]
    """
    whole: NDArray[np.uint16] = np.rint(np.clip(np.nan_to_num(values), 0, 1).astype(np.float64) * 65535).astype("<u2")
    return whole


class Cache:
    """The most recently used tiles, up to a number of bytes."""

    def __init__(self, limit: int = 96 << 20) -> None:
        self.limit = limit
        self._entries: OrderedDict[Any, tuple[TileIndex, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Any) -> bytes | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][1]

    def put(self, key: Any, index: TileIndex, data: bytes) -> None:
        with self._lock:
            self._bytes -= len(self._entries.pop(key, (index, b""))[1])
            self._entries[key] = index, data
            self._bytes += len(data)
            while self._bytes > self.limit:
                self._bytes -= len(self._entries.popitem(last=False)[1][1])

    def drop(self, is_stale: Callable[[Any, TileIndex], bool]) -> None:
        """Remove every tile for which `is_stale(key, index)` is true."""
        with self._lock:
            for key in [key for key, (index, _) in self._entries.items() if is_stale(key, index)]:
                self._bytes -= len(self._entries.pop(key)[1])

    @property
    def size(self) -> int:
        """Bytes in the cache."""
        return self._bytes
