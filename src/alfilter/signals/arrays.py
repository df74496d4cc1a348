"""Signals from arrays in memory: of numpy, torch or Pillow, of any numeric type."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.signals.lightfield import lightfield
from alfilter.signals.mapped import MODES, check_finite, depth
from alfilter.signals.points import PointSignal
from alfilter.signals.signal import GridSignal

CHANNELS = 16  # of a sound, a volume or a video
Array = NDArray[Any]


def as_array(values: Any, what: str) -> Array:
    """Numbers as a numpy array that is theirs alone: from numpy, torch, Pillow, or nested lists. what: for the error.

    Booleans become 0.0 and 1.0, half precision becomes single; other numbers are kept as they are.

    >>> as_array(torch.tensor([[True, False]]), "a picture").tolist()
    [[1.0, 0.0]]
    """
    if isinstance(values, str | bytes):
        raise UserError(f"expected an array for {what}, got the text {values[:40]!r}; from_file reads files")
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
    try:
        array = np.array(values)
    except (ValueError, TypeError) as error:
        raise UserError(f"expected an array of numbers for {what}, got {type(values).__name__} ({error})") from error
    if array.dtype.kind == "b" or array.dtype == np.float16:
        array = array.astype(np.float32)
    if array.dtype.kind not in "uif":
        raise UserError(f"expected an array of numbers for {what}, got {type(values).__name__} of {array.dtype}")
    return array


def image_signal(values: Any) -> GridSignal:
    """A picture (H, W) or (H, W, c), c from 1 to 4. A Pillow image of a palette or of CMYK becomes RGB first.

    >>> image_signal(np.zeros((4, 6))).describe()["shape"]
    [4, 6]
    """
    array = _with_channels(as_array(_plain_pillow(values), "a picture"), 2, max(MODES), "a picture (H, W) or (H, W, c)")
    return GridSignal(array, mode=MODES[array.shape[-1]], bits=depth(array))


def volume_signal(values: Any) -> GridSignal:
    """A volume (D, H, W) or (D, H, W, c), c from 1 to 16."""
    return GridSignal(
        _with_channels(as_array(values, "a volume"), 3, CHANNELS, "a volume (D, H, W) or (D, H, W, c)"), kind="volume"
    )


def video_signal(values: Any, rate: float) -> GridSignal:
    """A video (T, H, W) or (T, H, W, c), c from 1 to 4, of `rate` frames per second."""
    array = _with_channels(as_array(values, "a video"), 3, max(MODES), "a video (T, H, W) or (T, H, W, c)")
    facts = {"rate": _positive(rate, "frames per second")}
    return GridSignal(array, kind="video", mode=MODES[array.shape[-1]], facts=facts)


def lightfield_signal(values: Any) -> GridSignal:
    """A light field (u, v, y, x, c), c from 1 to 4: view, row, column, channel.

    >>> lightfield_signal(np.zeros((3, 3, 8, 6, 3))).describe()["shape"]
    [3, 3, 8, 6]
    """
    return lightfield(as_array(values, "a light field"), "the array")


def audio_signal(values: Any, rate: int) -> GridSignal:
    """A sound (n,) or (n, c), c from 1 to 16, of `rate` samples per second; silence is at 0 (of uint8 at 128)."""
    array = _with_channels(as_array(values, "a sound"), 1, CHANNELS, "a sound (n,) or (n, c)")
    is_float = array.dtype.kind == "f"
    zero = 128.0 if array.dtype == np.uint8 else 0.0
    full = 1.0 if is_float else float(np.iinfo(array.dtype).max)
    peak = max(abs(float(array.max()) - zero), abs(float(array.min()) - zero)) or full
    facts = {"rate": int(_positive(rate, "samples per second")), "format": "float" if is_float else "PCM"}
    bits = min(8 * array.dtype.itemsize, 64 if is_float else 32)
    return GridSignal(array, kind="audio", bits=bits, span=(zero - peak, zero + peak), facts=facts)


def point_signal(places: Any, measured: Any, weights: Any = None) -> PointSignal:
    """Measurements (n,) or (n, c) at places (n,) or (n, d), each with a weight if there are any.

    >>> point_signal([0.0, 1.0, 3.0], [[1, 2], [3, 4], [5, 6]]).describe()["values"]
    ['y0', 'y1']
    """
    rows = [as_array(part, what) for part, what in ((places, "places"), (measured, "measurements"))]
    rows = [np.asarray(part[:, None] if part.ndim == 1 else part, np.float64) for part in rows]
    shapes = " and ".join(str(part.shape) for part in rows)
    if any(part.ndim != 2 for part in rows) or len(rows[0]) != len(rows[1]):
        raise UserError(f"expected places (n, d) and measurements (n, c) of the same n, got {shapes}; reshape them")
    if not len(rows[0]) or not all(part.shape[1] for part in rows):
        raise UserError(f"expected at least one point, coordinate and value, got {shapes}; give some")
    weight = None if weights is None else np.asarray(as_array(weights, "weights"), np.float64)
    if weight is not None and (weight.shape != (len(rows[0]),) or not (weight >= 0).all()):
        raise UserError(f"expected {len(rows[0])} weights of at least 0, got shape {weight.shape}; give one per point")
    for part, what in ((rows[0], "places"), (rows[1], "measurements"), (weight, "weights")):
        if part is not None and not np.isfinite(part).all():
            raise UserError(f"expected finite {what}, got {int((~np.isfinite(part)).sum())} NaN or infinite; drop them")
    return PointSignal(rows[0], rows[1], weight)


def _with_channels(array: Array, axes: int, most: int, wanted: str) -> Array:
    """The samples (*grid, c) of a grid of so many axes; an axis of channels is added where there is none."""
    if array.ndim == axes:
        array = array[..., None]
    if array.ndim != axes + 1 or not 1 <= array.shape[-1] <= most or min(array.shape[:-1], default=0) < 2:
        last = array.shape[0] <= most < array.shape[-1] if array.ndim == axes + 1 else False
        hint = "channels come last: np.moveaxis(array, 0, -1)" if last else "reshape it"
        shape = array.shape[:-1] if array.ndim == axes + 1 and array.shape[-1] == 1 else array.shape
        raise UserError(f"expected {wanted} of 1 to {most} channels, 2 samples or more per axis, got {shape}; {hint}")
    check_finite("the array", array)
    return np.ascontiguousarray(array)


def _plain_pillow(values: Any) -> Any:
    """A Pillow image whose numbers are no colours, converted; anything else as it is."""
    from PIL.Image import Image

    if isinstance(values, Image) and values.mode in ("P", "PA", "CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        return values.convert("RGBA" if values.has_transparency_data else "RGB")
    return values


def _positive(number: float, what: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float | np.number) or not 0 < number < np.inf:
        raise UserError(f"expected a number of {what} above 0, got {number!r}")
    return float(number)
