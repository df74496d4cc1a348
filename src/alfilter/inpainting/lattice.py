"""Values half-way between the samples of a lattice, learned from the lattice itself one scale coarser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]
Offset = tuple[int, int]

_FOUR: list[Offset] = [(a, b) for a in (-1, 1) for b in (-1, 1)]
_TWELVE: list[Offset] = [(a, b) for a in (-3, -1, 1, 3) for b in (-3, -1, 1, 3) if abs(a) + abs(b) < 6]
# neighbours, samples over which their weights are learned, and what holds the weights back; found on six pictures of
# `div2k` that are in no table
_MODELS = ((_FOUR, 2.0, 1e-4), (_TWELVE, 4.0, 3e-4))
DIAGONAL: list[Offset] = _FOUR
STRAIGHT: list[Offset] = [(-1, 0), (0, -1), (0, 1), (1, 0)]
_AROUND, _HELD = 3.0, 3e-4  # the same for `settled`
_TRUST = 3.0  # in a guess, against what one known sample says of the four around it
_STEPS = 12  # of its conjugate gradients, after which nothing moves by a thousandth
SMALLEST = 8  # samples along an axis below which there is nothing to learn from


def is_lattice(seen: Mask) -> bool:
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


def settled(u: Array, known: Mask, offsets: list[Offset], own: float = 0.0) -> Array:
    """u (H, W, c) whose samples next to the known (H, W) ones explain these as well as they are explained by them.

    With the weights a_k of known neighbours at 2h_k, learned as in `centres`, both u(x) ≈ Σ_k a_k(x) u(x + h_k) of an
    unknown x and of a known one are expected, and the second says something of its unknown neighbours (the soft
    decisions of Zhang and Wu, 2008). From a guess g = (1 - own) u + own Σ_k a_k u(x + h_k), the unknown c minimise

        3 Σ |c(x) - g(x)|² + Σ_{x known} |u(x) - Σ_k a_k(x) c(x + h_k)|².

    offsets: the four h_k, `DIAGONAL` or `STRAIGHT`, between known and unknown samples.

    >>> ramp = np.indices((16, 16)).sum(0)[..., None].astype(np.float32) / 32
    >>> known = np.indices((16, 16)).sum(0) % 2 == 0
    >>> bool(np.abs(settled(ramp, known, STRAIGHT, own=0.5) - ramp).max() < 1e-5)
    True
    """
    from scipy import sparse

    height, width, channels = u.shape
    weights, near = _learned(u, known, offsets)
    values = u.reshape(-1, channels).copy()
    rows, columns = np.indices((height, width))
    inside = (rows > 0) & (rows < height - 1) & (columns > 0) & (columns < width - 1)
    places = np.flatnonzero(known & inside)
    ends = places[:, None] + np.array([a * width + b for a, b in offsets])
    free = np.zeros(height * width, bool)
    free[ends] = True
    free &= ~known.reshape(-1)
    predicted = np.einsum("hwck,hwk->hwc", near, weights, optimize=True).reshape(-1, channels)
    values[free] += np.float32(own) * (predicted - values)[free]
    entries = (weights.reshape(-1, len(offsets))[places].ravel(), ends.ravel(), np.arange(ends.size + 1, step=4))
    matrix = sparse.csr_matrix(entries, shape=(len(places), height * width))
    change = _least_change(matrix[:, free], values[places] - matrix @ values)
    values[free] += change
    return values.reshape(u.shape)


def _least_change(matrix: Any, wanted: Array) -> Array:
    """The d (n, c) that minimises _TRUST |d|² + |matrix d - wanted|², by conjugate gradients."""
    back = matrix.T.tocsr()
    residual = back @ wanted
    change, direction, power = np.zeros_like(residual), residual.copy(), float((residual**2).sum())
    for _ in range(_STEPS):
        if power < 1e-12:
            break
        image = np.float32(_TRUST) * direction + back @ (matrix @ direction)
        step = np.float32(power / float((direction * image).sum()))
        change += step * direction
        residual -= step * image
        before, power = power, float((residual**2).sum())
        direction = residual + np.float32(power / before) * direction
    return np.asarray(change, np.float32)


def _learned(u: Array, known: Mask, offsets: list[Offset]) -> tuple[Array, Array]:
    """Weights (H, W, k), of sum one, of known samples at twice the offsets; and the samples (H, W, c, k) at once."""
    from scipy import ndimage

    height, width, _ = u.shape
    padded = np.pad(u, ((2, 2), (2, 2), (0, 0)), mode="reflect", reflect_type="odd")

    def at(scale: int) -> Array:
        parts = [padded[2 + scale * a :, 2 + scale * b :][:height, :width] for a, b in offsets]
        return np.asarray(np.stack(parts, axis=-1), np.float32)

    far = at(2)
    mean = far.mean(-1)
    far = (far - mean[..., None]) * known[..., None, None]
    gram = np.einsum("hwck,hwcl->hwkl", far, far, optimize=True)
    moment = np.einsum("hwck,hwc->hwk", far, u - mean, optimize=True)
    share = ndimage.gaussian_filter(known.astype(np.float32), _AROUND, truncate=3.0)[..., None]
    gram = ndimage.gaussian_filter(gram, (_AROUND, _AROUND, 0, 0), truncate=3.0) / share[..., None]
    moment = ndimage.gaussian_filter(moment, (_AROUND, _AROUND, 0), truncate=3.0) / share
    weights = np.linalg.solve(gram + np.float32(_HELD) * np.eye(len(offsets), dtype=np.float32), moment[..., None])
    weights = weights[..., 0]
    weights += (1 - weights.sum(-1, keepdims=True)) / len(offsets)
    return np.asarray(weights, np.float32), at(1)


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
