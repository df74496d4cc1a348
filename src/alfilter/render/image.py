"""A model as a picture, at any size and of any region."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate import pixel_bands, sample_pixels
from alfilter.methods import Field
from alfilter.render.stored_numbers import check_memory
from alfilter.render.view import View, drawn_output, refuse_views, view_axes
from alfilter.signals.image import FORMATS, check_fits, check_numbers, quantise, write_pixels


def render(field: Field, view: View) -> Tensor:
    """The field on the pixels of a view: (rows, columns, c) in [0, 1] units.

    Pixel centres of the region's first and last row and column are the ends, as they are in the fitted picture; at
    scale 1 the fitted pixels come back exactly. Below, a pixel is the mean over the samples it covers.
    """
    axes = view_axes(field, view)
    return sample_pixels(drawn_output(field, view, axes), axes)


def render_file(field: Field, out: str | Path, view: View, bits: int | None = None) -> tuple[int, int]:
    """Write a view to a picture file; returns its rows and columns."""
    facts, suffix = field.signal, Path(out).suffix.lower()
    if suffix not in FORMATS:  # before the work
        raise UserError(f"a picture's name ends in {', '.join(FORMATS)}, got {Path(out).name!r}; rename the output")
    refuse_views(field, view)
    if view.slice is not None:
        raise UserError("slice cuts volumes and videos, the model is a picture; leave it out")
    down, across = axes = view_axes(field, view)
    if bits is None:
        bits = native_bits(facts, suffix)
    check_fits(out, (len(down), len(across), field.out_dim), bits)  # before the work
    dtype = np.dtype({8: np.uint8, 16: np.uint16}.get(bits, np.float32))
    check_memory(Path(out), len(down) * len(across) * field.out_dim * dtype.itemsize)
    pixels = np.empty((len(down), len(across), field.out_dim), dtype)
    for start, band in pixel_bands(drawn_output(field, view, axes), axes):  # only the pixels themselves stay in memory
        values = band.numpy()
        check_numbers(out, values)
        # a float picture goes back to the numbers it was read with
        numbers = values * (facts["high"] - facts["low"]) + facts["low"] if bits == 32 else quantise(values, bits)
        pixels[start : start + len(values)] = numbers
    write_pixels(out, pixels)
    return len(down), len(across)


def native_bits(facts: dict[str, Any], suffix: str) -> int:
    """As many bits as the fitted picture had, where the file can hold them."""
    if suffix in (".tif", ".tiff"):
        return int(facts["bits"])
    return 16 if suffix == ".png" and facts["bits"] > 8 else 8
