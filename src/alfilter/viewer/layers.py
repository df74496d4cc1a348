"""What a tile can show: a field's values, its cut-off, one scale's response, or the fitted picture between its pixels.

A layer is drawn at one place per pixel for a first impression, or as the mean over each pixel's places.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, samples_across
from alfilter.errors import UserError
from alfilter.evaluate import Section
from alfilter.methods import Field
from alfilter.signals import GridSignal
from alfilter.viewer.model import Detail, Model
from alfilter.viewer.reference import bicubic, nearest
from alfilter.viewer.tiles import (
    Draw,
    Evaluate,
    Shape,
    TileIndex,
    as_uint16,
    evaluate,
    evaluate_mean,
    needs_float64,
    pixel_means,
)

PICTURES = {"nearest": nearest, "bicubic": bicubic}  # layers of the fitted picture itself


@dataclass(frozen=True)
class Sampling:
    """Which pixels of which plane, and how each of them is sampled.

    is_rough: one place per pixel, whatever it covers. check_wanted: called between the parts of the work; raises when
    nobody waits for the tile any more.
    """

    index: TileIndex
    section: Section
    is_rough: bool
    check_wanted: Callable[[], None]

    @property
    def shape(self) -> Shape:
        """Samples of the plane that is shown."""
        return self.section.size

    def values(self, function: Evaluate) -> NDArray[Any]:
        """A function of coordinates on the tile: (rows, columns, c)."""
        on_plane = self.section.through(function)
        if self.is_rough:
            return evaluate(on_plane, self.index, self.shape)
        return evaluate_mean(on_plane, self.index, self.shape, self.check_wanted)


def scale_of(layer: str) -> int | None:
    """The scale that a layer `scaleJ` shows.

    >>> scale_of("scale3"), scale_of("alpha")
    (3, None)
    """
    match = re.fullmatch(r"scale(\d{1,2})", layer)
    return int(match[1]) if match else None


def check_layer(model: Model, layer: str) -> None:
    """Refuse a layer that the model does not have."""
    encoding, scale = filtered_encoding_of(model.original), scale_of(layer)
    if layer == "field":
        return
    if encoding is None:
        raise UserError(f"α is not defined for {model.original.spec['method']}")
    if layer != "alpha" and (scale is None or scale >= encoding.levels):
        raise UserError(f"there is no layer {layer[:20]!r}")


def field_tile(model: Model, drawn: Field, detail: Detail, sampling: Sampling) -> bytes:
    """The values of a field as uint16."""
    exact = model.in_float64(drawn) if needs_float64(sampling.index, sampling.shape) else drawn
    shown = detail.of(exact)
    return as_uint16(sampling.values(lambda x: shown(x).clamp(0, 1))).tobytes()


def filter_tile(drawn: Field, scale: int | None, sampling: Sampling) -> bytes:
    """The cut-off in cycles per sample of the longest axis, or the mean response of one scale, as float32."""
    encoding = filtered_encoding_of(drawn)
    assert encoding is not None
    if scale is None:
        across = samples_across(sampling.section.shape)
        values = sampling.values(lambda x: encoding.local_frequency(x.float()).unsqueeze(-1) / across)
    else:
        values = sampling.values(lambda x: encoding.responses(x.float())[..., scale].unsqueeze(-1))
    return values.astype("<f4").tobytes()


def reference_tile(signal: GridSignal, layer: str, sampling: Sampling) -> bytes:
    """The plane of the fitted signal between its pixels as uint16: the nearest of them, or bicubic."""
    each = 1 if sampling.is_rough else sampling.index.places_per_pixel
    places = sampling.index.places(sampling.shape, each)
    plane = sampling.section.of(signal)
    clipped: Draw = lambda *part: np.clip(PICTURES[layer](plane, *part), 0, 1)  # noqa: E731
    return as_uint16(pixel_means(clipped, places, each, sampling.check_wanted)).tobytes()
