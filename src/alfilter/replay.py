"""A model back as what was fitted, at its own sampling or another: a sound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.rendering import View, chosen_output
from alfilter.signals.audio import Sound, check_audio, write_audio
from alfilter.tasks import axis_coords, sample_axes

_LONGEST = 1 << 28  # numbers of a written sound


def replay_file(field: Field, out: str | Path, view: View, bits: int | None = None) -> str:
    """Write a sound to a file whose suffix says how; returns what was written, in words."""
    return WRITERS[field.signal["kind"]](field, Path(out), view, bits)


def can_replay(field: Field) -> bool:
    """Whether the field is of a kind that is written here and not as a picture."""
    return field.signal.get("kind") in WRITERS


def write_sound(field: Field, out: Path, view: View, bits: int | None) -> str:
    """A .wav with the rate times `scale`, or with `size` samples over the same time.

    Its numbers are as the fitted ones; bits 8, 16 or 24 asks for PCM and 32 or 64 for float. At another rate r', sample
    i is the field's value at the place i · r / r' of the fitted samples: it is asked between them.
    """
    if out.suffix.lower() != ".wav":
        raise UserError(f"a sound's name ends in .wav, got {out.name!r}; rename the output")
    if view.region is not None:
        raise UserError("--region cuts pictures, the model is a sound; leave it out")
    facts, (samples,) = field.signal, field.signal["shape"]
    count, last, rate = sound_sampling(view, samples, facts["rate"])
    was_float = facts.get("format") == "float"
    source = Sound(3 if was_float else 1, int(facts["bits"]), field.out_dim, rate)
    made = source if bits is None else Sound(3 if bits >= 32 else 1, bits, field.out_dim, rate)
    check_audio(out, count, made)
    if count * field.out_dim > _LONGEST:
        raise UserError(f"{count:,} samples of {field.out_dim} channels are too many to write; give a smaller --scale")
    values = sample_axes(chosen_output(field, view), [axis_coords(count, 0, last, samples)]).double().numpy()
    stored = values * (facts["high"] - facts["low"]) + facts["low"]
    amplitude: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = (stored - source.zero) / source.full
    write_audio(out, amplitude, rate, made.bits, is_float=made.is_float)
    return f"{count} samples at {rate} Hz"


def sound_sampling(view: View, samples: int, rate: float) -> tuple[int, float, int]:
    """How many samples to write, the last one's place in fitted samples, and the rate.

    >>> sound_sampling(View(scale=2), 100, 8000), sound_sampling(View(size="50"), 100, 8000)
    ((199, 99.0, 16000), (50, 99.0, 4000))
    """
    if view.size is not None:
        if not (view.size.isascii() and view.size.isdigit()) or int(view.size) < 1:
            raise UserError(f"--size of a sound is a number of samples, got {view.size!r}; for example 44100")
        count = int(view.size)
        return count, float(samples - 1), max(1, round(rate * count / samples))
    scale = 1.0 if view.scale is None else view.scale
    if not 0 < scale < 1e6 or round(rate * scale) < 1:
        raise UserError(f"--scale must be a number above 0, got {scale}; 2 doubles the rate")
    made = round(rate * scale)
    count = int((samples - 1) * made / rate + 1e-9) + 1
    return count, (count - 1) * rate / made, made


WRITERS: dict[str, Callable[[Field, Path, View, int | None], str]] = {"audio": write_sound}
