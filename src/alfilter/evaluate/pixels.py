"""A field on pixels that may cover several samples: the mean over each pixel's places, which does not alias."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from alfilter.evaluate.sampling import axis_coords, sample_axes
from alfilter.evaluate.scores import Evaluate

_BAND = 1 << 20  # places evaluated at once


@dataclass(frozen=True)
class PixelAxis:
    """The places of an axis' pixels: coordinates (count · each,), `each` of them in turn for one pixel.

    width: samples that a pixel covers; up to 1, every pixel is one place.
    """

    coords: Tensor
    each: int = 1
    width: float = 1.0

    def __len__(self) -> int:
        return len(self.coords) // self.each

    def part(self, start: int, stop: int) -> PixelAxis:
        """Some of the pixels."""
        return PixelAxis(self.coords[start * self.each : stop * self.each], self.each, self.width)


def pixel_axis(count: int, first: float, last: float, samples: int, spacing: float = 1.0) -> PixelAxis:
    """`count` pixels over the samples `first` to `last` of an axis with `samples`.

    As many pixels as samples, or more: places spread evenly with the ends on `first` and `last`, see `axis_coords`.
    Fewer: pixel i covers the samples from first - ½ + i w to first - ½ + (i+1) w, w = (last - first + 1) / count, with
    evenly spread places in it, at most `spacing` samples apart. For a whole w and spacing 1 they are its samples.

    >>> pixel_axis(2, 0, 3, samples=4).coords.mul(1.5).add(1.5).tolist(), pixel_axis(2, 0, 3, 4, spacing=2).each
    ([0.0, 1.0, 2.0, 3.0], 1)
    """
    width = (last - first + 1) / count
    if width <= 1 + 1e-9:
        return PixelAxis(axis_coords(count, first, last, samples))
    each = max(1, math.ceil(width / spacing - 1e-6))
    places = first - 0.5 + (torch.arange(count * each, dtype=torch.float64) + 0.5) * (width / each)
    inside = places.clamp(0, samples - 1)
    return PixelAxis(((2 * inside - (samples - 1)) / max(1, samples - 1)).float(), each, width)


def sample_pixels(field: Evaluate, axes: Sequence[PixelAxis]) -> Tensor:
    """A field's mean over the places of every pixel: (n_1, ..., n_d, c).

    >>> halves = [pixel_axis(2, 0, 3, samples=4)]
    >>> sample_pixels(lambda x: 1.5 * x + 1.5, halves).flatten().tolist()
    [0.5, 2.5]
    """
    return torch.cat([band for _, band in pixel_bands(field, axes)])


def pixel_bands(field: Evaluate, axes: Sequence[PixelAxis]) -> Iterator[tuple[int, Tensor]]:
    """The same band by band of the first axis, of a bounded size: (first row, (rows, ..., c))."""
    down, across = axes[0], list(axes[1:])
    places = down.each * math.prod(len(axis.coords) for axis in across)
    rows = max(1, _BAND // max(1, places))
    for start in range(0, len(down), rows):
        band = [down.part(start, start + rows), *across]
        yield start, _means(sample_axes(field, [axis.coords for axis in band]), [axis.each for axis in band])


def _means(values: Tensor, each: Sequence[int]) -> Tensor:
    """Means over `each` neighbours along every axis but the last."""
    for axis, count in enumerate(each):
        if count > 1:
            values = torch.unflatten(values, axis, (-1, count)).mean(axis + 1)
    return values
