"""A light field's model as a view, a refocused picture, or all its views."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate import PixelAxis, axis_coords, pixel_axis, sample_pixels
from alfilter.files import replacing
from alfilter.methods import Field
from alfilter.render.image import native_bits
from alfilter.render.stored_numbers import check_memory, stored, stored_type
from alfilter.render.view import View, drawn_output, learned_spacing
from alfilter.signals.image import FORMATS, check_fits, check_numbers, quantise, write_pixels


def write_lightfield(field: Field, out: Path, view: View, bits: int | None) -> str:
    """A view (`view` U,V) or a refocused picture (`refocus` SLOPE) of `size` or `scale`; or a .npy of all views."""
    if view.region is not None or view.slice is not None:
        raise UserError("region and slice cut pictures and volumes, the model is a light field; give view U,V")
    if view.view is not None and view.refocus is not None:
        raise UserError("view is one view and refocus is the mean over all; give one of them")
    if view.view is None and view.refocus is None:
        return _write_all(field, out, view)
    if out.suffix.lower() not in FORMATS:
        raise UserError(f"a picture's name ends in {', '.join(FORMATS)}, got {out.name!r}; rename the output")
    facts, (height, width) = field.signal, field.signal["shape"][2:]
    (rows, columns), _ = View(size=view.size, scale=view.scale).resolve((height, width))
    depth = native_bits(facts, out.suffix.lower()) if bits is None else bits
    check_fits(out, (rows, columns, field.out_dim), depth)
    check_memory(out, 4 * rows * columns * field.out_dim)
    values = view_picture(field, view) if view.view is not None else refocused(field, view)
    check_numbers(out, values.numpy())
    span = facts["high"] - facts["low"]
    write_pixels(
        out, (values * span + facts["low"]).float().numpy() if depth == 32 else quantise(values.numpy(), depth)
    )
    return f"{columns}x{rows}"


def view_picture(field: Field, view: View) -> Tensor:
    """The picture (rows, columns, c) that is seen from `view.view` = U,V, which may lie between the fitted views."""
    u, v = view_place(str(view.view), field.signal["shape"])
    axes = _axes(field, view, (u, v))
    return sample_pixels(drawn_output(field, view, axes), axes)[0, 0]


def refocused(field: Field, view: View) -> Tensor:
    """I(y, x) = mean over views (u, v) of L(u, v, y + s (u - ū), x + s (v - v̄)): shift and add (Ng et al. 2005).

    s = `view.refocus`, in pixels per view: what moves by s from view to view is in focus. ū, v̄: the middle view. Beyond
    the rim of a view its rim is taken. → (rows, columns, c).
    """
    down, across, height, width = map(int, field.signal["shape"])
    slope = view.refocus
    if slope is None or not abs(slope) <= max(height, width):
        raise UserError(f"refocus is a number of pixels a view, at most {max(height, width)}, got {slope}; try 0.5")
    total = torch.zeros(())
    for u in range(down):
        for v in range(across):
            axes = _axes(field, view, (u, v), (slope * (u - (down - 1) / 2), slope * (v - (across - 1) / 2)))
            total = total + sample_pixels(drawn_output(field, view, axes), axes)[0, 0]
    return total / (down * across)


def view_place(text: str, shape: list[int]) -> tuple[float, float]:
    """A view in numbers of views.

    >>> view_place("2.5,1", [5, 5, 8, 8])
    (2.5, 1.0)
    """
    try:
        u, v = (float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"view looks like U,V, got {text!r}; for example {shape[0] // 2},{shape[1] // 2}") from None
    if not (0 <= u <= shape[0] - 1 and 0 <= v <= shape[1] - 1):
        raise UserError(f"view must lie between 0,0 and {shape[0] - 1},{shape[1] - 1}, got {text}")
    return u, v


def _axes(
    field: Field, view: View, place: tuple[float, float], shift: tuple[float, float] = (0.0, 0.0)
) -> list[PixelAxis]:
    """The axes of a picture at a view, its pixels moved by `shift`."""
    shape = field.signal["shape"]
    sizes, _ = View(size=view.size, scale=view.scale).resolve((shape[2], shape[3]))
    spacing = learned_spacing(field, view)
    axes = [PixelAxis(axis_coords(1, at, at, n)) for at, n in zip(place, shape[:2], strict=True)]
    for count, n, by in zip(sizes, shape[2:], shift, strict=True):
        axis = pixel_axis(count, 0, n - 1, n, spacing)
        moved = (axis.coords.double() + 2 * by / max(1, n - 1)).float().clamp(-1, 1)
        axes.append(PixelAxis(moved, axis.each, axis.width))
    return axes


def _write_all(field: Field, out: Path, view: View) -> str:
    """All views (u, v, y, x, c) in the numbers that were fitted, their pictures of `size` or `scale`."""
    if out.suffix.lower() != ".npy":
        raise UserError(f"a light field's name ends in .npy, got {out.name!r}; a picture needs view U,V or refocus")
    facts, (down, across, height, width) = field.signal, field.signal["shape"]
    (rows, columns), _ = View(size=view.size, scale=view.scale).resolve((height, width))
    dtype, _ = stored_type(facts)
    check_memory(out, down * across * rows * columns * field.out_dim * dtype.itemsize)
    data = np.empty((down, across, rows, columns, field.out_dim), dtype)
    for u in range(down):
        for v in range(across):
            axes = _axes(field, view, (u, v))
            picture = sample_pixels(drawn_output(field, view, axes), axes)[0, 0]
            check_numbers(out, picture.numpy())
            data[u, v] = stored(picture.to(torch.float64).numpy(), facts, dtype)
    with replacing(out) as temporary, temporary.open("wb") as handle:
        np.save(handle, data, allow_pickle=False)
    return f"{down}x{across} views of {columns}x{rows}"
