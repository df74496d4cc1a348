"""What to draw of a model: which samples of which part, and which of its outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from alfilter.analysis import capped, samples_across
from alfilter.errors import UserError
from alfilter.evaluate import PixelAxis, pixel_axis
from alfilter.methods import Field
from alfilter.runtime.thread_pool import flushed_denormals

_MAX_PIXELS = 120_000_000  # of a rendered picture
_MAX_SCALE = 1_000_000  # pixels per sample along a side

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class View:
    """What to draw: size `WxH` or scale, and a region `X0,Y0,X1,Y1` in pixels of the fitted picture (none: all).

    level: which output of a field that has several, from 1, the coarsest; none is the finest. slice: `AXIS:K`, a plane
    of a volume or video. detail: the highest frequency that passes the field's filter, in cycles per fitted sample
    along the longest axis; none is as learned. view: `U,V` of a light field. refocus: of a light field, the pixels that
    what is in focus moves from view to view.
    """

    size: str | None = None
    scale: float | None = None
    region: str | None = None
    level: int | None = None
    slice: str | None = None
    detail: float | None = None
    view: str | None = None
    refocus: float | None = None

    def resolve(self, shape: tuple[int, int]) -> tuple[tuple[int, int], Box]:
        """Rows and columns to draw, and the box in pixels, for a picture of `shape` (H, W).

        >>> View(scale=2).resolve((4, 8))
        ((8, 16), (0.0, 0.0, 8.0, 4.0))
        """
        box = _box(self.region, shape) if self.region is not None else (0.0, 0.0, float(shape[1]), float(shape[0]))
        if self.size is not None:
            rows, columns = _size(self.size)
        else:
            scale = checked_scale(self.scale, "the picture")
            rows, columns = max(1, round((box[3] - box[1]) * scale)), max(1, round((box[2] - box[0]) * scale))
        if rows * columns > _MAX_PIXELS:
            raise UserError(f"{columns}x{rows} is more than {_MAX_PIXELS:,} pixels; give a smaller size, or regions")
        return (rows, columns), box


def checked_scale(scale: float | None, what: str) -> float:
    """A scale, 1 where none is given. what: is scaled.

    >>> checked_scale(None, "the picture"), checked_scale(2, "the picture")
    (1.0, 2)
    """
    if scale is None:
        return 1.0
    if not 0 < scale < _MAX_SCALE:
        limits = f"above 0 and below {_MAX_SCALE:,}"
        raise UserError(f"scale must be a number {limits}, got {scale:.12g}; 2 doubles {what}")
    return scale


def view_axes(field: Field, view: View) -> list[PixelAxis]:
    """A view's rows and its columns."""
    shape = _picture_shape(field)
    (rows, columns), (x0, y0, x1, y1) = view.resolve(shape)
    spacing = learned_spacing(field, view)
    return [pixel_axis(rows, y0, y1 - 1, shape[0], spacing), pixel_axis(columns, x0, x1 - 1, shape[1], spacing)]


def learned_spacing(field: Field, view: View) -> float:
    """How many samples one place can stand for: 1, or 2^k for a field that learned the area means of k octaves.

    Such a field gives the mean itself where its filter is capped at the pixels' own frequency, see `drawn_output`.
    """
    octaves = field.signal.get("detail")
    return 2.0**octaves if isinstance(octaves, int) and 0 < octaves < 16 and view.level is None else 1.0


def drawn_output(field: Field, view: View, axes: Sequence[PixelAxis]) -> Callable[[Tensor], Tensor]:
    """What is evaluated for a view: the field, one of its outputs (1 is the coarsest), or the field with α capped.

    `detail` caps it by hand. A field that learned its levels of detail is capped where pixels cover several samples, at
    what places that far apart can tell: half a cycle per place.
    """
    level, cycles = view.level, math.inf
    across = samples_across(field.signal["shape"])
    if view.detail is not None:
        if not 0 < view.detail < 1e6:
            raise UserError(f"detail is a frequency above 0 in cycles per sample, got {view.detail}; 0.25 keeps half")
        if level is not None:
            raise UserError("detail caps a filter and level chooses an output; give one of them")
        cycles = view.detail * across
    spacing = max(axis.width / axis.each for axis in axes)
    if spacing > 1 and learned_spacing(field, view) > 1:
        cycles = min(cycles, max(field.signal["shape"]) / (2 * spacing))
    if cycles < math.inf:
        return capped(field, cycles)
    if level is None:
        return field
    count = len(field.outputs(torch.zeros(1, field.in_dim)))
    if not 1 <= level <= count:
        raise UserError(f"level must be between 1 and {count} for {field.spec.get('method')}, got {level}")
    return flushed_denormals()(lambda x: field.outputs(x)[level - 1])


def refuse_views(field: Field, view: View) -> None:
    """Refuse what only a light field has."""
    kind = field.signal.get("kind")
    if kind != "lightfield" and (view.view is not None or view.refocus is not None):
        raise UserError(f"view and refocus are for light fields, the model is of kind {kind}; leave them out")


def _picture_shape(field: Field) -> tuple[int, int]:
    shape = field.signal.get("shape")
    if field.signal.get("kind") != "image" or not isinstance(shape, list) or len(shape) != 2:
        raise UserError(
            f"the model represents {field.signal.get('kind') or 'nothing yet'}, not a picture; give an image model"
        )
    return int(shape[0]), int(shape[1])


def _box(text: str, shape: tuple[int, int]) -> Box:
    try:
        x0, y0, x1, y1 = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"region looks like X0,Y0,X1,Y1, got {text!r}; for example 0,0,64,64") from None
    if not (0 <= x0 < x1 <= shape[1] and 0 <= y0 < y1 <= shape[0]):
        what = _wrong_side({"X": (x0, x1, shape[1]), "Y": (y0, y1, shape[0])})
        raise UserError(f"region X0,Y0,X1,Y1 must be a box inside 0,0,{shape[1]},{shape[0]}, got {text}: {what}")
    if x1 - x0 < 1 or y1 - y0 < 1:
        raise UserError(f"region must be at least one pixel wide and high, got {text}; size magnifies it")
    return x0, y0, x1, y1


def _wrong_side(axes: Mapping[str, tuple[float, float, float]]) -> str:
    """What is wrong with a box: each axis with its low end, its high end, and the picture's size.

    >>> _wrong_side({"X": (-5.0, 5.0, 8), "Y": (3.0, 9.0, 8)})
    'X0 is below 0, Y1 is above 8; correct it'
    >>> _wrong_side({"X": (5.0, 5.0, 8)})
    'X1 is not above X0; correct it'
    """
    wrong = []
    for name, (low, high, size) in axes.items():
        wrong += [f"{name}0 is below 0"] if not low >= 0 else []
        wrong += [f"{name}1 is above {size}"] if not high <= size else []
        wrong += [f"{name}1 is not above {name}0"] if not low < high else []
    return f"{', '.join(wrong)}; correct it"


def _size(text: str) -> tuple[int, int]:
    try:
        columns, rows = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise UserError(f"size looks like WIDTHxHEIGHT, got {text!r}; for example 1024x768") from None
    if columns < 1 or rows < 1:
        raise UserError(f"size must be at least 1x1, got {text}")
    return rows, columns
