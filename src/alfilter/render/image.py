"""A model back as a picture, at any size and of any region, and its score against a signal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate import axis_coords, sample_axes, sample_grid
from alfilter.evaluate.streaming import bands, is_large
from alfilter.methods import Field
from alfilter.metrics.image import lpips
from alfilter.render.points import score_points
from alfilter.signals import GridSignal, open_signal
from alfilter.signals.image import FORMATS, check_fits, check_numbers, quantise, write_pixels
from alfilter.tasks import TASKS, GridTask

_LARGEST = 120_000_000  # pixels of a rendered picture

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class View:
    """What to draw: size `WxH` or scale, and a region `X0,Y0,X1,Y1` in pixels of the fitted picture (none: all).

    level: which output of a field that has several, from 1, the coarsest; none is the finest. slice: `AXIS:K`, a plane
    of a volume or video.
    """

    size: str | None = None
    scale: float | None = None
    region: str | None = None
    level: int | None = None
    slice: str | None = None

    def resolve(self, shape: tuple[int, int]) -> tuple[tuple[int, int], Box]:
        """Rows and columns to draw, and the box in pixels, for a picture of `shape` (H, W).

        >>> View(scale=2).resolve((4, 8))
        ((8, 16), (0.0, 0.0, 8.0, 4.0))
        """
        box = _box(self.region, shape) if self.region is not None else (0.0, 0.0, float(shape[1]), float(shape[0]))
        if self.size is not None:
            rows, columns = _size(self.size)
        else:
            scale = 1.0 if self.scale is None else self.scale
            if not 0 < scale < 1e6:
                raise UserError(f"--scale must be a number above 0, got {scale}; 2 doubles the picture")
            rows, columns = max(1, round((box[3] - box[1]) * scale)), max(1, round((box[2] - box[0]) * scale))
        if rows * columns > _LARGEST:
            raise UserError(f"{columns}x{rows} is more than {_LARGEST:,} pixels; draw a smaller size or regions of it")
        return (rows, columns), box


def render(field: Field, view: View) -> Tensor:
    """The field on the pixels of a view: (rows, columns, c) in [0, 1] units.

    Pixel centres of the region's first and last row and column are the ends, as they are in the fitted picture; at
    scale 1 the fitted pixels come back exactly.
    """
    return sample_axes(chosen_output(field, view), view_axes(field, view))


def view_axes(field: Field, view: View) -> tuple[Tensor, Tensor]:
    """Coordinates of a view's rows and of its columns."""
    shape = _picture_shape(field)
    (rows, columns), (x0, y0, x1, y1) = view.resolve(shape)
    return axis_coords(rows, y0, y1 - 1, shape[0]), axis_coords(columns, x0, x1 - 1, shape[1])


def chosen_output(field: Field, view: View) -> Callable[[Tensor], Tensor]:
    """The output of a field that a view asks for."""
    return field if view.level is None else at_level(field, view.level)


def at_level(field: Field, level: int) -> Callable[[Tensor], Tensor]:
    """A field's output number `level`, 1 being the coarsest of those it has."""
    count = len(field.outputs(torch.zeros(1, field.in_dim)))
    if not 1 <= level <= count:
        raise UserError(f"--level must be between 1 and {count} for {field.spec.get('method')}, got {level}")
    return lambda x: field.outputs(x)[level - 1]


def render_file(field: Field, out: str | Path, view: View, bits: int | None = None) -> tuple[int, int]:
    """Write a view to a picture file; returns its rows and columns."""
    facts, suffix = field.signal, Path(out).suffix.lower()
    if suffix not in FORMATS:  # before the work
        raise UserError(f"a picture's name ends in {', '.join(FORMATS)}, got {Path(out).name!r}; rename the output")
    if view.slice is not None:
        raise UserError("--slice cuts volumes and videos, the model is a picture; leave it out")
    down, across = view_axes(field, view)
    if bits is None:
        bits = native_bits(facts, suffix)
    check_fits(out, (len(down), len(across), field.out_dim), bits)  # before the work
    pixels = np.empty((len(down), len(across), field.out_dim), {8: np.uint8, 16: np.uint16}.get(bits, np.float32))
    for start, band in bands(chosen_output(field, view), (down, across)):  # only the pixels themselves are held
        values = band.numpy()
        check_numbers(out, values)
        # a float picture goes back to the numbers it was read with
        whole = values * (facts["high"] - facts["low"]) + facts["low"] if bits == 32 else quantise(values, bits)
        pixels[start : start + len(values)] = whole
    write_pixels(out, pixels)
    return len(down), len(across)


def score(field: Field, spec: str, weights: str | None = None) -> dict[str, Any]:
    """Metrics of a model on a signal: the seen and the held-out samples of its fit where they can be told apart.

    weights: a file of LPIPS weights, the empty string for the one the environment names, None for no LPIPS.
    """
    if field.signal.get("kind") == "points":
        return score_points(field, spec).plain()
    signal = open_signal(spec)
    if not isinstance(signal, GridSignal) or (signal.in_dim, signal.out_dim) != (field.in_dim, field.out_dim):
        want, got = f"{field.in_dim}-D with {field.out_dim} channels", f"{signal.in_dim}-D with {signal.out_dim}"
        raise UserError(f"the model was fitted to a signal {want}, {spec} is {got}; give a signal of that kind")
    same = list(signal.shape) == field.signal.get("shape")
    observe = field.signal.get("observe", "all") if same else "all"
    task = _task(signal, observe, field.signal.get("observe_seed", 0))
    if weights is not None and signal.in_dim != 2:
        raise UserError(f"LPIPS looks at pictures, {spec} holds {signal.kind}; leave it out")
    if is_large(signal.shape):
        if weights is not None:
            size = f"{signal.shape[1]}x{signal.shape[0]}"
            raise UserError(f"LPIPS looks at a whole picture at once, {size} is too large for that; leave it out")
        return task.evaluate(field).plain()
    if signal.in_dim != 2:
        return task.evaluate(field).plain()
    prediction, target = sample_grid(field, signal.shape), task.target()
    scores = task.compare(prediction, target)
    if weights is not None:
        scores.metrics["lpips"] = lpips(prediction, target, weights or None)
    return scores.plain()


def _task(signal: GridSignal, observe: str, seed: int) -> GridTask:
    """The task with the fit's own split; a mask that is gone, or fits no more, leaves one score over all samples."""
    try:
        task = TASKS[signal.kind](signal, observe, seed)
    except UserError:
        if not observe.startswith("mask:"):
            raise
        task = TASKS[signal.kind](signal, "all", seed)
    assert isinstance(task, GridTask)
    return task


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
        raise UserError(f"--region looks like X0,Y0,X1,Y1, got {text!r}; for example 0,0,64,64") from None
    if not (0 <= x0 < x1 <= shape[1] and 0 <= y0 < y1 <= shape[0]):
        raise UserError(f"--region must be a box inside 0,0,{shape[1]},{shape[0]}, got {text}; X1 and Y1 are outside")
    if x1 - x0 < 1 or y1 - y0 < 1:
        raise UserError(f"--region must be at least one pixel wide and high, got {text}; --size magnifies it")
    return x0, y0, x1, y1


def _size(text: str) -> tuple[int, int]:
    try:
        columns, rows = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise UserError(f"--size looks like WIDTHxHEIGHT, got {text!r}; for example 1024x768") from None
    if columns < 1 or rows < 1:
        raise UserError(f"--size must be at least 1x1, got {text}")
    return rows, columns


def native_bits(facts: dict[str, Any], suffix: str) -> int:
    """As many bits as the fitted picture had, where the file can hold them."""
    if suffix in (".tif", ".tiff"):
        return int(facts["bits"])
    return 16 if suffix == ".png" and facts["bits"] > 8 else 8
