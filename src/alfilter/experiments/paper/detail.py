"""How much fine detail a reconstruction keeps, and how much of its error is fine: from the pictures of a line."""

from __future__ import annotations

import io
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import numpy as np


def detail_kept(line: Mapping[str, Any]) -> float | None:
    """Power of the reconstruction beyond a quarter cycle per pixel, relative to the truth's."""
    pair = _pair(line)
    return None if pair is None else _fine(pair[1])[0] / max(_fine(pair[0])[0], 1e-30)


def fine_share_of_error(line: Mapping[str, Any]) -> float | None:
    """The share of the error's power beyond a quarter cycle per pixel."""
    pair = _pair(line)
    if pair is None:
        return None
    fine, total = _fine(pair[1] - pair[0])
    return fine / max(total, 1e-30)


def _pair(line: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Truth and reconstruction of a line as gray pictures."""
    from PIL import Image

    pictures = line.get("pictures") or {}
    if "reference" not in pictures or "reconstruction" not in pictures:
        return None
    opened = [
        np.asarray(Image.open(io.BytesIO(b64decode(pictures[name]))).convert("RGB"), np.float64).mean(-1) / 255
        for name in ("reference", "reconstruction")
    ]
    return opened[0], opened[1]


def _fine(picture: Any) -> tuple[float, float]:
    """Power beyond a quarter cycle per pixel, and in all; the mean is left out, a Hann window keeps borders quiet."""
    rows, columns = (np.hanning(n + 2)[1:-1] for n in picture.shape)
    power = np.abs(np.fft.fft2((picture - picture.mean()) * rows[:, None] * columns)) ** 2
    radius = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in picture.shape), indexing="ij"))
    return float(power[radius > 0.25].sum()), float(power.sum())
