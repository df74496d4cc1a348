"""A model as a sound, a volume, a video, a light field or a part of them, at the fitted sampling or another."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.evaluate import PixelAxis, axis_coords, pixel_axis, pixel_bands, sample_pixels
from alfilter.files import replacing
from alfilter.methods import Field
from alfilter.render.image import native_bits
from alfilter.render.lightfield import write_lightfield
from alfilter.render.stored_numbers import check_memory, stored, stored_type
from alfilter.render.view import View, checked_scale, drawn_output, learned_spacing, refuse_views
from alfilter.signals.audio import Sound, check_audio, write_audio
from alfilter.signals.image import FORMATS, check_fits, check_numbers, quantise, write_pixels
from alfilter.signals.video import CLIPS, write_clip
from alfilter.signals.volume import write_nifti

Array = NDArray[Any]
_MAX_NUMBERS = 1 << 28  # of a written sound
_MOST_OF_A_GIF = 1 << 14  # frames


def render_media(field: Field, out: str | Path, view: View, bits: int | None = None) -> str:
    """Write a sound, volume, video or light field to a file whose suffix says how; returns a description of it."""
    refuse_views(field, view)
    return WRITERS[field.signal["kind"]](field, Path(out), view, bits)


def is_media(field: Field) -> bool:
    """Whether a field represents a sound, a volume, a video or a light field."""
    return field.signal.get("kind") in WRITERS


def write_sound(field: Field, out: Path, view: View, bits: int | None) -> str:
    """A .wav with the rate times `scale`, or with `size` samples over the same time.

    Its numbers are as the fitted ones; bits 8, 16 or 24 asks for PCM and 32 or 64 for float. At another rate r', sample
    i is the field's value at the place i · r / r' of the fitted samples, evaluated between them; at a lower rate it is
    the mean over r / r' samples around that place.
    """
    if out.suffix.lower() != ".wav":
        raise UserError(f"a sound's name ends in .wav, got {out.name!r}; rename the output")
    if view.region is not None or view.slice is not None:
        raise UserError("region and slice cut pictures and volumes, the model is a sound; leave them out")
    facts, (samples,) = field.signal, field.signal["shape"]
    count, last, rate = sound_sampling(view, samples, facts["rate"])
    was_float = facts.get("format") == "float"
    source = Sound(3 if was_float else 1, int(facts["bits"]), field.out_dim, rate)
    target = source if bits is None else Sound(3 if bits >= 32 else 1, bits, field.out_dim, rate)
    check_audio(out, count, target)
    if count * field.out_dim > _MAX_NUMBERS:
        raise UserError(f"{count:,} samples of {field.out_dim} channels are too many to write; give a smaller scale")
    check_memory(out, 8 * (samples + count) * field.out_dim)  # places and values in float64, each twice
    axes = [even_axis(count, last, samples, learned_spacing(field, view))]
    values = sample_pixels(drawn_output(field, view, axes), axes).double().numpy()
    stored = values * (facts["high"] - facts["low"]) + facts["low"]
    amplitude: Array = (stored - source.zero) / source.full
    write_audio(out, amplitude, rate, target.bits, is_float=target.is_float)
    return f"{count} samples at {rate} Hz"


def sound_sampling(view: View, samples: int, rate: float) -> tuple[int, float, int]:
    """How many samples to write, the last one's place in fitted samples, and the rate.

    >>> sound_sampling(View(scale=2), 100, 8000), sound_sampling(View(size="50"), 100, 8000)
    ((199, 99.0, 16000), (50, 99.0, 4000))
    """
    if view.size is not None:
        if not re.fullmatch(r"[0-9]{1,15}", view.size) or int(view.size) < 1:
            raise UserError(f"size of a sound is a number of samples, got {view.size!r}; for example 44100")
        count = int(view.size)
        return count, float(samples - 1), max(1, round(rate * count / samples))
    new_rate = max(1, round(rate * _scale(view)))
    count = int((samples - 1) * new_rate / rate + 1e-9) + 1
    return count, (count - 1) * rate / new_rate, new_rate


def even_axis(count: int, last: float, samples: int, spacing: float = 1.0) -> PixelAxis:
    """`count` samples from the fitted sample 0 to the place `last`; where they are fewer, each with places around it.

    >>> even_axis(3, 4, samples=5).coords.mul(2).add(2).tolist()  # two places per sample: a quarter of the gap away
    [0.0, 0.5, 1.5, 2.5, 3.5, 4.0]
    """
    step = last / max(1, count - 1)
    if step <= 1 + 1e-9:
        return PixelAxis(axis_coords(count, 0, last, samples))
    each = max(1, math.ceil(step / spacing - 1e-6))
    around = ((torch.arange(each, dtype=torch.float64) + 0.5) / each - 0.5) * step
    places = (torch.arange(count, dtype=torch.float64)[:, None] * step + around).flatten().clamp(0, samples - 1)
    return PixelAxis(((2 * places - (samples - 1)) / max(1, samples - 1)).float(), each, step)


def write_volume(field: Field, out: Path, view: View, bits: int | None) -> str:
    """A .npy, .nii or .nii.gz with `scale` samples per sample, in the numbers it was fitted to; or a slice."""
    if view.slice is not None:
        return write_slice(field, out, view, bits)
    name = out.name.lower()
    if not name.endswith((".npy", ".nii", ".nii.gz")):
        raise UserError(f"a volume's name ends in .npy, .nii or .nii.gz, got {out.name!r}; pictures need slice AXIS:K")
    _refuse_options(view, "volumes")
    facts, shape = field.signal, tuple(field.signal["shape"])
    scale = _scale(view)
    counts = [max(2, round((n - 1) * scale) + 1) for n in shape]
    dtype, header = stored_type(facts)
    check_memory(out, math.prod(counts) * field.out_dim * dtype.itemsize)
    if max(counts) > 32767 and not name.endswith(".npy"):
        raise UserError(f"NIfTI holds up to 32767 samples per axis, got {max(counts)}; give a .npy or a smaller scale")
    data = np.empty((*counts, field.out_dim), dtype)
    axes = [even_axis(count, n - 1, n, learned_spacing(field, view)) for count, n in zip(counts, shape, strict=True)]
    for start, slab in pixel_bands(drawn_output(field, view, axes), axes):
        check_numbers(out, slab.numpy())
        data[start : start + len(slab)] = stored(slab.double().numpy(), facts, dtype)
    if name.endswith(".npy"):
        with replacing(out) as temporary, temporary.open("wb") as handle:
            np.save(handle, data if field.out_dim > 1 else data[..., 0], allow_pickle=False)
    else:
        steps = tuple((n - 1) / (count - 1) for count, n in zip(counts, shape, strict=True))
        write_nifti(out, data, header, steps)
    return "x".join(map(str, counts)) + f" {dtype}"


def write_video(field: Field, out: Path, view: View, bits: int | None) -> str:
    """A clip or GIF at the fitted rate, its frames of `size` or `scale`; or a frame as a picture: `slice` 0:K."""
    if view.slice is not None:
        return write_slice(field, out, view, bits)
    suffix = out.suffix.lower()
    if suffix not in (*CLIPS, ".gif"):
        known = ", ".join((*CLIPS, ".gif"))
        raise UserError(f"a video's name ends in {known}, got {out.name!r}; a frame as a picture needs slice 0:K")
    _refuse_options(view, "videos", sized=True)
    if bits not in (None, 8):
        raise UserError(f"a video holds 8 bits per channel, got {bits}; leave bits out")
    if field.out_dim == 2:
        raise UserError("a video holds gray or RGB frames, the model has 2 channels; write its frames with slice 0:K")
    frames, height, width = field.signal["shape"]
    (rows, columns), _ = View(size=view.size, scale=view.scale).resolve((height, width))
    if suffix == ".gif":
        if frames > _MOST_OF_A_GIF:
            raise UserError(f"a GIF is written with up to {_MOST_OF_A_GIF:,} frames, got {frames:,}; write an .mp4")
        check_memory(out, 3 * frames * rows * columns)  # Pillow keeps the frames of a GIF until the last
    axes = [
        pixel_axis(count, 0, n - 1, n, learned_spacing(field, view))
        for count, n in zip((frames, rows, columns), field.signal["shape"], strict=True)
    ]

    def drawn() -> Iterator[Array]:
        for _, slab in pixel_bands(drawn_output(field, view, axes), axes):
            values = slab.numpy()
            check_numbers(out, values)
            for frame in quantise(values if field.out_dim > 1 else np.repeat(values, 3, axis=-1), 8):
                yield np.ascontiguousarray(frame[..., :3])

    write_clip(out, drawn(), float(field.signal["rate"]))
    return f"{frames} frames of {columns}x{rows}"


def write_slice(field: Field, out: Path, view: View, bits: int | None) -> str:
    """The plane `slice` = AXIS:K as a picture of `size` or `scale`; K may lie between two samples."""
    suffix = out.suffix.lower()
    if suffix not in FORMATS:
        raise UserError(f"a picture's name ends in {', '.join(FORMATS)}, got {out.name!r}; rename the output")
    _refuse_options(view, "slices", sized=True)
    facts, shape = field.signal, tuple(int(n) for n in field.signal["shape"])
    axis, place = _plane(str(view.slice), shape)
    rest = [n for k, n in enumerate(shape) if k != axis]
    (rows, columns), _ = View(size=view.size, scale=view.scale).resolve((rest[0], rest[1]))
    depth = native_bits(facts, suffix) if bits is None else bits
    check_fits(out, (rows, columns, field.out_dim), depth)
    check_memory(out, 4 * rows * columns * field.out_dim)
    spacing = learned_spacing(field, view)
    axes = [pixel_axis(rows, 0, rest[0] - 1, rest[0], spacing), pixel_axis(columns, 0, rest[1] - 1, rest[1], spacing)]
    axes.insert(axis, PixelAxis(axis_coords(1, place, place, shape[axis])))
    values = sample_pixels(drawn_output(field, view, axes), axes).squeeze(axis).numpy()
    check_numbers(out, values)
    numbers = values * (facts["high"] - facts["low"]) + facts["low"] if depth == 32 else quantise(values, depth)
    write_pixels(out, numbers.astype(np.float32) if depth == 32 else numbers)
    return f"{columns}x{rows}"


def _plane(text: str, shape: tuple[int, ...]) -> tuple[int, float]:
    """The axis and the place along it.

    >>> _plane("1:2.5", (4, 4, 4))
    (1, 2.5)
    """
    try:
        axis, place = int(text.partition(":")[0]), float(text.partition(":")[2])
    except ValueError:
        raise UserError(f"slice looks like AXIS:K, got {text!r}; for example 0:{shape[0] // 2}") from None
    if not 0 <= axis < len(shape):
        raise UserError(f"slice must name an axis from 0 to {len(shape) - 1}, got {axis}")
    if not 0 <= place <= shape[axis] - 1:
        raise UserError(f"slice of axis {axis} must lie between 0 and {shape[axis] - 1}, got {text.partition(':')[2]}")
    return axis, place


def _refuse_options(view: View, what: str, *, sized: bool = False) -> None:
    """Refuse options that do not apply."""
    if view.region is not None:
        raise UserError(f"region cuts pictures, not {what}; leave it out")
    if view.size is not None and not sized:
        raise UserError(f"size is for pictures, {what} take scale; leave it out")


def _scale(view: View) -> float:
    return checked_scale(view.scale, "the samples")


WRITERS: dict[str, Callable[[Field, Path, View, int | None], str]] = {
    "audio": write_sound,
    "volume": write_volume,
    "video": write_video,
    "lightfield": write_lightfield,
}
