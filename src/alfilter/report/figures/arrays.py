"""The pure functions under the figures: what is drawn, as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError

Array = NDArray[np.float64]


def as_map(values: NDArray[Any], name: str) -> Array:
    """`values` as a float64 map (H, W), or the error that names its shape."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0:
        raise UserError(f"{name} must be a map (H, W) with at least one value, got shape {array.shape}")
    return array


def error_map(pred: NDArray[Any], target: NDArray[Any]) -> Array:
    """The mean over channels of |pred − target|: (H, W) or (H, W, c) → (H, W).

    >>> error_map(np.array([[[0.0, 1.0]]]), np.array([[[0.5, 1.0]]]))
    array([[0.25]])
    """
    left, right = np.asarray(pred, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if left.shape != right.shape or left.ndim not in (2, 3):
        raise UserError(f"pred and target must have one shape (H, W) or (H, W, c), got {left.shape} and {right.shape}")
    error: Array = np.abs(left - right)
    return error if error.ndim == 2 else error.mean(axis=2)


def radial_spectrum(image: NDArray[Any]) -> tuple[Array, Array]:
    """The mean of |FFT|²/(HW)² over rings of equal |frequency|, frequency in cycles per pixel.

    Ring k holds the frequencies nearest to k / min(H, W), so that no ring is empty; the rings reach into
    the corners, hence Σ_k n_k power_k = mean(image²), n_k being the samples of ring k (Parseval).

    >>> frequencies, power = radial_spectrum(np.ones((4, 4)))
    >>> power.round(6).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    pixels = as_map(image, "image")
    height, width = pixels.shape
    power = np.abs(np.fft.fft2(pixels) / pixels.size) ** 2
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None, :])
    # The small shift keeps radii that differ by rounding alone in one ring.
    ring = np.floor(radius * min(height, width) + 0.5 + 1e-9).astype(np.int64).ravel()
    count = np.bincount(ring)
    filled = count > 0
    mean = np.bincount(ring, weights=power.ravel())[filled] / count[filled]
    return np.flatnonzero(filled) / min(height, width), mean


def tapered(image: NDArray[Any]) -> Array:
    """The image without its mean under a Hann window, so that its borders do not pose as high frequencies."""
    pixels = as_map(image, "image")
    rows, columns = (np.hanning(size + 2)[1:-1] for size in pixels.shape)
    result: Array = (pixels - pixels.mean()) * rows[:, None] * columns[None, :]
    return result


def curve(history: Sequence[Mapping[str, Any]], *path: str) -> tuple[Array, Array]:
    """The steps and the finite values of one entry of the history, nested names given in order.

    >>> curve([{"step": 1, "lr": {"net": 0.5}}, {"step": 2, "lr": {}}], "lr", "net")
    (array([1.]), array([0.5]))
    """
    points = [(line.get("step"), _entry(line, path)) for line in history]
    finite = [(step, value) for step, value in points if _is_finite(step) and _is_finite(value)]
    table = np.array(finite, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def wants_log_steps(steps: Array) -> bool:
    """Whether the steps span two decades: then a log axis shows the early, fast part too.

    >>> wants_log_steps(np.array([1.0, 500.0])), wants_log_steps(np.array([50.0, 500.0]))
    (True, False)
    """
    positive = steps[steps > 0]
    return bool(len(positive) > 1 and positive.max() >= 100 * positive.min())


def _entry(line: Mapping[str, Any], path: Sequence[str]) -> object:
    value: Any = line
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
