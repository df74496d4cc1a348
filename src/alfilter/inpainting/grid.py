"""Values between the samples of a grid: smooth along edges, free to change across them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, dist, inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.inpainting.lattice import DIAGONAL, STRAIGHT, centres, is_lattice, settled
from alfilter.kernels.dispatch import kernels_available, load_kernels
from alfilter.runtime.thread_pool import flushed_denormals, parallel_map

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]
Offset = tuple[int, ...]

_BAND, _FILLED = 1 << 20, 1 << 21  # samples: a minute of one core for a picture, at the most
_BEFORE = 0.5  # samples over which a signal is smoothed before its slopes are taken
_ROUNDS, _COARSE_ROUNDS = 4, 3
_TOLERANCE, _WARM, _MOST = 1e-4, 5e-4, 300  # of the conjugate gradients, and where they begin near the end
_SMALLEST = 8  # samples along an axis that are not halved
_LATTICE_AROUND = 1.5  # of samples at even distances, which show finer edges
_SOLID = 2.0  # reach in three dimensions and more, where offsets are many
_BACK = 0.1  # share of the seen samples that judge between kinds of smoothness
_WINDOW = 1 << 16  # samples in which they are judged
_FEWEST = 200  # seen samples below which nothing is held out


@dataclass(frozen=True)
class Smoothness:
    """w_h(x) = |h|^-rough / (1 + hᵀJ(x)h / edge²)^power for |h| ≤ reach, J smoothed over `around` samples.

    Values run from 0 to 1. sparse: the gap above which grids half as fine are filled first. lattice: whether the
    samples of `every:2` are also used at twice their scale (`fill`).
    """

    rough: float
    edge: float
    power: float
    around: float
    reach: float = 3.0
    sparse: float = inf
    lattice: bool = True

    def offsets(self, dims: int) -> list[Offset]:
        """The offsets h, one of each pair ±h."""
        return _within(self.reach if dims < 3 else min(self.reach, _SOLID), dims)


def kinds(gap: float) -> dict[str, Smoothness]:
    """The kinds of smoothness that are tried on samples `gap` apart; the first is the guess where none can be tried.

    Found on pictures of `div2k` and `kodak` that are in no table (`alfilter experiment filling`). `plates` is the
    bending energy of a thin plate, for signals that are smooth themselves, such as terrain.
    """
    near = Smoothness(rough=1.0, edge=0.04, power=2.0, around=2.0)
    far = Smoothness(rough=0.5, edge=0.04, power=2.0, around=3.0, reach=4.0, sparse=2.0)
    plates = Smoothness(rough=4.0, edge=1.0, power=0.0, around=1.5, reach=1.5)
    ordered = {"near edges": near, "far edges": far} if gap < 3 else {"far edges": far, "near edges": near}
    return {**ordered, "plates": plates}


def gap_of(seen: Mask) -> float:
    """The distance between seen samples, if they were spread evenly.

    >>> gap_of(np.arange(16).reshape(4, 4) % 4 == 0)
    2.0
    """
    return float((seen.size / max(1, int(seen.sum()))) ** (1 / seen.ndim))


def fill(values: Array, seen: Mask, kind: Smoothness | None = None, rounds: int = _ROUNDS) -> Array:
    """Seen samples as they are, and between them the u that minimises Σ_x Σ_h w_h(x) |u(x+h) - 2u(x) + u(x-h)|².

    The weights come from the structure tensor J = G * Σ_c ∇u_c ∇u_cᵀ of u itself: along an edge hᵀJh is small and a
    second difference costs, across it is large and u is free. So u and J are computed alternately, from the mean of
    what is near (`pyramid`); with the weights fixed u is a linear system, solved by conjugate gradients. Nothing is
    random.

    Where samples are sparse J is found from coarse to fine: on grids of cells of two samples along every axis, each the
    mean of what is seen in it, and the result is the mean over two ways to cut the grid into cells. Where every other
    sample of a picture is seen, the others are also what the samples say at twice the scale (`lattice`).

    values: (*shape, c) in [0, 1], read where seen: (*shape). kind: of smoothness; without one `chosen`.

    >>> ramp = np.arange(9, dtype=np.float32)[:, None] / 8
    >>> bool(np.abs(fill(ramp, np.arange(9) % 4 == 0) - ramp).max() < 1e-3)
    True
    """
    kind = chosen(values, seen) if kind is None else kind
    known = np.where(seen[..., None], values, np.float32(0)).astype(np.float32)
    if seen.all():
        return known
    if kind.power == 0:
        return _solved(pyramid(known, seen), known, seen, kind)
    if _halves(seen, kind):
        return np.asarray(np.mean([_coarse_to_fine(known, seen, kind, shift) for shift in (0, 1)], axis=0), np.float32)
    on_lattice = kind.lattice and is_lattice(seen)
    kind = replace(kind, around=min(kind.around, _LATTICE_AROUND)) if on_lattice else kind
    u = pyramid(known, seen)
    for _ in range(1 if on_lattice else _limited(rounds, seen)):
        u = _solved(u, known, seen, kind)
    return _at_twice_the_scale(u, known, seen, kind) if on_lattice else u


def _solved(u: Array, known: Array, seen: Mask, kind: Smoothness, tolerance: float = _TOLERANCE) -> Array:
    """The smoothest continuation of the known values for the weights that u gives; u where no difference fits."""
    shape = seen.shape
    steps = [h for h in kind.offsets(len(shape)) if all(2 * abs(step) < n for step, n in zip(h, shape, strict=True))]
    if not steps:
        return u
    tensor = structure_tensor(u, _BEFORE, kind.around)
    strides = np.array([_stride(h, shape) for h in steps], np.int64)
    free = (~seen).reshape(-1).astype(np.float32)
    system = _System(strides, np.stack([_weight(h, tensor, kind) for h in steps]), free, tolerance)
    channels = [(known[..., k].reshape(-1), u[..., k].reshape(-1)) for k in range(u.shape[-1])]
    return np.stack(parallel_map(system.solve, channels), axis=-1).reshape(u.shape)


def _halves(seen: Mask, kind: Smoothness) -> bool:
    return min(seen.shape) >= 2 * _SMALLEST and gap_of(seen) > kind.sparse


def _limited(rounds: int, seen: Mask) -> int:
    return rounds if seen.ndim < 3 else min(rounds, 2)


def _coarse_to_fine(known: Array, seen: Mask, kind: Smoothness, shift: int) -> Array:
    """One round from what the grid of cells gives, whose first cells begin `shift` samples outside."""
    front = [(shift, 0)] * seen.ndim
    known, seen = np.pad(known, [*front, (0, 0)]), np.pad(seen, front)
    u = _solved(_from_cells(known, seen, kind), known, seen, kind, _WARM)
    return u[(slice(shift, None),) * seen.ndim]


def _from_cells(known: Array, seen: Mask, kind: Smoothness) -> Array:
    """Seen samples, and elsewhere what the grid half as fine has there."""
    weight = _halved(seen[..., None].astype(np.float32))
    cells, filled = (_halved(known) / np.maximum(weight, 1)).astype(np.float32), weight[..., 0] > 0
    u = _from_cells(cells, filled, kind) if _halves(filled, kind) else pyramid(cells, filled)
    for _ in range(_limited(_COARSE_ROUNDS, seen)):
        u = _solved(u, cells, filled, kind, _WARM)
    for axis, count in enumerate(seen.shape):
        u = _doubled(u, axis, count)
    return np.where(seen[..., None], known, u)


def _at_twice_the_scale(u: Array, known: Array, seen: Mask, kind: Smoothness) -> Array:
    """u with the middle of every four samples, then those between these, half smooth and half learned; and once more.

    Each is settled with the samples around it.
    """
    predicted = centres(known[::2, ::2])
    middle = tuple(slice(1, 2 * n, 2) for n in predicted.shape[:2])
    nearly = seen.copy()
    nearly[middle] = True
    for _ in range(2):
        u = _solved(u, known, seen, kind)
        u[middle] = (u[middle] + predicted) / 2
        u = settled(u, seen, DIAGONAL)
        u = _solved(u, np.where(nearly[..., None], u, np.float32(0)), nearly, kind)
        u = settled(u, nearly, STRAIGHT, own=0.5)
    return u


def bands(shape: Sequence[int], gap: float, most: int | None = None) -> list[tuple[slice, slice]]:
    """Bands of the first axis that are filled one after the other in bounded memory: (what is read, what is kept).

    A value is decided by samples a few gaps away, so neighbouring bands overlap by ten. Of a grid of more than `most`
    samples (none: `_FILLED`) only as many bands as hold so many, spread evenly.

    >>> bands((256, 256), gap=2.0)
    [(slice(0, 256, None), slice(0, 256, None))]
    """
    row = max(1, prod(shape[1:]))
    height, margin = max(1, _BAND // row // 2 * 2), ceil(10 * gap)  # even: every band of `every:2` is a lattice again
    starts = range(0, shape[0], height)
    wanted = max(1, min(len(starts), (most or _FILLED) // (height * row)))
    picked = [starts[number * len(starts) // wanted] for number in range(wanted)]
    cuts = [(max(0, first - margin), first, min(first + height, shape[0])) for first in picked]
    return [(slice(low, min(end + margin, shape[0])), slice(first, end)) for low, first, end in cuts]


def chosen(values: Array, seen: Mask) -> Smoothness:
    """The kind of smoothness that best predicts a tenth of the seen samples from the others.

    Judged in a window in the middle of a large grid.
    """
    options = list(kinds(gap_of(seen)).values())
    window = tuple(_middle(n, _WINDOW ** (1 / seen.ndim)) for n in seen.shape)
    values, seen = values[window], seen[window]
    rows = np.flatnonzero(seen)
    if len(rows) < _FEWEST:
        return options[0]
    back = np.random.default_rng(0).permutation(rows)[: round(_BACK * len(rows))]
    rest = seen.copy()
    rest.reshape(-1)[back] = False
    truth = values.reshape(-1, values.shape[-1])[back]

    def error(kind: Smoothness) -> float:
        guess = fill(values, rest, kind, rounds=2).reshape(-1, truth.shape[1])[back]
        return float(np.mean((guess - truth) ** 2))

    return min(options, key=error)


def _middle(count: int, most: float) -> slice:
    first = max(0, (count - round(most)) // 2)
    return slice(first, first + min(count, round(most)))


def structure_tensor(u: Array, before: float, around: float) -> Array:
    """G_around * Σ_c ∇u_c ∇u_cᵀ with slopes per sample, after smoothing by G_before. u: (*shape, c) → (*shape, d, d).

    >>> ramp = np.arange(5, dtype=np.float32)[:, None, None].repeat(5, 1)
    >>> structure_tensor(ramp, 0.1, 0.1)[2, 2].tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    from scipy import ndimage

    dims = u.ndim - 1
    total = np.zeros((*u.shape[:-1], dims, dims), np.float32)
    for channel in np.moveaxis(u, -1, 0):
        smooth = ndimage.gaussian_filter(channel, before)
        slopes = [ndimage.sobel(smooth, axis) / (2 * 4 ** (dims - 1)) for axis in range(dims)]
        for i, j in product(range(dims), repeat=2):
            total[..., i, j] += slopes[i] * slopes[j]
    for i, j in product(range(dims), repeat=2):
        total[..., i, j] = ndimage.gaussian_filter(total[..., i, j], around)
    return total


def pyramid(values: Array, seen: Mask) -> Array:
    """Seen samples as they are, elsewhere the mean over the smallest surrounding dyadic cell that has any, smoothed.

    >>> pyramid(np.float32([[1], [0], [0], [3]]), np.array([True, False, False, True])).ravel().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    weight = seen.astype(np.float32)[..., None]
    return _pulled(np.where(weight > 0, values, np.float32(0)), weight)


class _System:
    """Σ_h D_hᵀ W_h D_h over the free samples, by conjugate gradients with the diagonal as preconditioner."""

    def __init__(self, strides: NDArray[np.int64], weights: Array, free: Array, tolerance: float) -> None:
        self.strides, self.weights, self.free, self.tolerance = strides, weights, free, tolerance
        self._apply: Callable[..., Any] = plain_bending
        if kernels_available():
            self._apply = load_kernels("second_differences").bending
        self.diagonal = 4 * weights.sum(0)
        for stride, weight in zip(strides, weights, strict=True):
            self.diagonal[stride:] += weight[:-stride]
            self.diagonal[:-stride] += weight[stride:]
        self.diagonal[self.diagonal == 0] = 1  # a corner that no difference reaches stays as it began

    def times(self, v: Array) -> Array:
        out = np.empty_like(v)
        self._apply(v, self.strides, self.weights, out)
        return out

    @flushed_denormals()
    def solve(self, channel: tuple[Array, Array]) -> Array:
        """One channel: (n,) the seen values and zeros, and (n,) where to begin."""
        known, start = channel
        x = start * self.free
        scale = float(np.linalg.norm(self.free * self.times(known)))
        residual = -self.free * self.times(known + x)
        direction = residual / self.diagonal
        power = float(residual @ direction)
        for _ in range(_MOST):
            if float(np.linalg.norm(residual)) <= self.tolerance * scale or power <= 0:
                break
            image = self.free * self.times(direction)
            step = np.float32(power / float(direction @ image))
            x += step * direction
            residual -= step * image
            scaled = residual / self.diagonal
            before, power = power, float(residual @ scaled)
            direction = scaled + np.float32(power / before) * direction
        return known + x


def plain_bending(values: Array, strides: Sequence[int] | NDArray[np.int64], weights: Array, out: Array) -> None:
    """`kernels.second_differences.bending` in array operations."""
    out[:] = 0
    for stride, weight in zip(strides, weights, strict=True):
        difference = np.zeros_like(values)
        inner = values[2 * stride :] + values[: -2 * stride] - 2 * values[stride:-stride]
        difference[stride:-stride] = weight[stride:-stride] * inner
        out -= 2 * difference
        out[stride:] += difference[:-stride]
        out[:-stride] += difference[stride:]


def _weight(h: Offset, tensor: Array, kind: Smoothness) -> Array:
    """w_h of every sample (n,), zero where x ± h is off the grid."""
    step = np.array(h, np.float32)
    across = np.einsum("i,...ij,j->...", step, tensor, step) / np.float32(kind.edge**2)
    weight = np.float32(dist(h, (0,) * len(h)) ** -kind.rough) * (1 + across) ** np.float32(-kind.power)
    for axis, reach in enumerate(map(abs, h)):
        line = np.moveaxis(weight, axis, 0)
        line[:reach] = 0
        line[len(line) - reach :] = 0
    return np.asarray(weight.reshape(-1), np.float32)


def _within(reach: float, dims: int) -> list[Offset]:
    side = range(-int(reach), int(reach) + 1)
    zero = (0,) * dims
    return [h for h in product(side, repeat=dims) if h > zero and dist(h, zero) <= reach + 1e-6]


def _stride(h: Offset, shape: Sequence[int]) -> int:
    stride = 0
    for step, n in zip(h, shape, strict=True):
        stride = stride * n + step
    return stride


def _pulled(total: Array, weight: Array) -> Array:
    """Means total / weight, and those of the grid half as fine where the weight is zero."""
    mean = np.divide(total, np.maximum(weight, np.float32(1e-9)), dtype=np.float32)
    if (weight > 0).all() or max(weight.shape[:-1]) == 1:
        return mean
    coarse = _pulled(_halved(total), _halved(weight))
    for axis, n in enumerate(weight.shape[:-1]):
        coarse = _doubled(coarse, axis, n)
    return np.where(weight > 0, mean, coarse).astype(np.float32)


def _halved(a: Array) -> Array:
    """Sums of pairs along every axis but the last."""
    for axis in range(a.ndim - 1):
        line = np.moveaxis(a, axis, 0)
        line = np.concatenate((line, np.zeros_like(line[:1]))) if len(line) % 2 else line
        a = np.moveaxis(line[::2] + line[1::2], 0, axis)
    return a


def _doubled(a: Array, axis: int, count: int) -> Array:
    """Twice as many samples along an axis: three quarters of the nearer, a quarter of the farther."""
    line = np.moveaxis(a, axis, 0)
    before, after = np.concatenate((line[:1], line[:-1])), np.concatenate((line[1:], line[-1:]))
    pairs = np.stack((0.75 * line + 0.25 * before, 0.75 * line + 0.25 * after), 1).astype(np.float32)
    return np.moveaxis(pairs.reshape(-1, *line.shape[1:])[:count], 0, axis)
