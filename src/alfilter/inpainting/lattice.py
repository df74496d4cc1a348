"""Values half-way between the samples of a lattice, learned from the lattice itself one scale coarser."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Offset = tuple[int, int]

_FOUR: list[Offset] = [(a, b) for a in (-1, 1) for b in (-1, 1)]
_TWELVE: list[Offset] = [(a, b) for a in (-3, -1, 1, 3) for b in (-3, -1, 1, 3) if abs(a) + abs(b) < 6]
# neighbours, samples over which their weights are learned, and what holds the weights back; found on six pictures of
# `div2k` that are in no table
_MODELS = ((_FOUR, 2.0, 1e-4), (_TWELVE, 4.0, 3e-4))
SMALLEST = 8  # samples along an axis below which there is nothing to learn from


def is_lattice(seen: NDArray[np.bool_]) -> bool:
    """Whether every other sample along both axes of a grid is seen and no other, as `every:2` has it.

    >>> is_lattice(np.indices((16, 16)).max(0) % 2 == 0), is_lattice(np.ones((16, 16), bool))
    (False, False)
    """
    if seen.ndim != 2 or min(seen.shape) < 2 * SMALLEST:
        return False
    samples = seen[::2, ::2]
    return bool(samples.all()) and int(seen.sum()) == samples.size


def centres(samples: Array) -> Array:
    """Values (h-1, w-1, c) in the middle of every four neighbouring samples (h, w, c).

    An edge looks alike at twice the scale (Li and Orchard, 2001): the weights a_k of a sample's neighbours at distances
    h_k, s(x) ≈ m(x) + Σ_k a_k(x) (s(x + h_k) - m(x)) with m the mean of the four nearest, are learned by least squares
    around x and taken for the neighbours at h_k/2 of the place in the middle. Differs from the source in: weights are
    learned over all channels with a smooth window, held back towards the mean, and two models are averaged.

    >>> ramp = np.indices((9, 9)).sum(0)[..., None].astype(np.float32)
    >>> centres(ramp)[2, 3].tolist()
    [6.0]
    """
    return np.asarray(np.mean([_predicted(samples, *model) for model in _MODELS], axis=0), np.float32)


def _predicted(samples: Array, offsets: list[Offset], around: float, held: float) -> Array:
    from scipy import ndimage

    near, mean = _neighbours(samples, offsets)
    gram = np.einsum("hwck,hwcl->hwkl", near, near, optimize=True)
    moment = np.einsum("hwck,hwc->hwk", near, samples - mean, optimize=True)
    gram = _between(ndimage.gaussian_filter(gram, (around, around, 0, 0), truncate=3.0))
    moment = _between(ndimage.gaussian_filter(moment, (around, around, 0), truncate=3.0))
    weights = np.linalg.solve(gram + np.float32(held) * np.eye(len(offsets), dtype=np.float32), moment[..., None])
    near, mean = _neighbours(samples, [((a + 1) // 2, (b + 1) // 2) for a, b in offsets])
    predicted = mean[:-1, :-1] + np.einsum("hwck,hwk->hwc", near[:-1, :-1], weights[..., 0], optimize=True)
    return np.asarray(predicted, np.float32)


def _neighbours(samples: Array, offsets: list[Offset]) -> tuple[Array, Array]:
    """Neighbours (h, w, c, k) of every sample less the mean (h, w, c) of the nearest four; a plane goes on outside."""
    height, width, _ = samples.shape
    wide = max(max(map(abs, h)) for h in offsets)
    padded = np.pad(samples, ((wide, wide), (wide, wide), (0, 0)), mode="reflect", reflect_type="odd")
    parts = [padded[wide + a :, wide + b :][:height, :width] for a, b in offsets]
    reach = min(a * a + b * b for a, b in _centred(offsets))
    inner = [part for part, (a, b) in zip(parts, _centred(offsets), strict=True) if a * a + b * b == reach]
    mean = np.asarray(np.mean(inner, axis=0), np.float32)
    return np.asarray(np.stack(parts, axis=-1) - mean[..., None], np.float32), mean


def _centred(offsets: list[Offset]) -> list[Offset]:
    """Twice the offsets, counted from their own middle."""
    middle = [max(h[axis] for h in offsets) + min(h[axis] for h in offsets) for axis in (0, 1)]
    return [(2 * a - middle[0], 2 * b - middle[1]) for a, b in offsets]


def _between(field: Array) -> Array:
    """Means of every four neighbours of the first two axes."""
    rows = field[:-1] + field[1:]
    return np.asarray((rows[:, :-1] + rows[:, 1:]) / 4, np.float32)
