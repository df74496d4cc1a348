"""Values in whole frames, slices or views that are unseen: interpolated between seen neighbours along their motion."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.runtime.thread_pool import parallel_map

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Total variation with an L1 data term (Zach, Pock, Bischof 2007), as scikit-image has it; the numbers are between its
# own and the fastest that were as good on frames, slices and views.
_FLOW: dict[str, Any] = {"attachment": 20, "num_warp": 3, "num_iter": 5}
_AROUND = 3.0  # pixels over which two ways of seeing a place are judged
MOST_FILLED = 1 << 23  # samples: a minute of one core
_EQUAL = 1e-6  # squared differences below this are none


def plane_axes(seen: Mask) -> tuple[int, ...]:
    """The axes whose planes are seen as a whole or not at all: all but two, which are pictures. () if there are none.

    >>> seen = np.zeros((4, 3, 5), bool)
    >>> seen[:, ::2] = True
    >>> plane_axes(seen), plane_axes(np.eye(3, dtype=bool))
    ((1,), ())
    """
    if seen.ndim not in (3, 4) or seen.all() or not seen.any():
        return ()
    options = [(0,), (1,), (2,)] if seen.ndim == 3 else [(0, 1)]
    for axes in options:
        pictures = tuple(k for k in range(seen.ndim) if k not in axes)
        if np.array_equal(seen.any(pictures), seen.all(pictures)):
            return axes
    return ()


def fill_planes(values: Array, seen: Mask, axes: tuple[int, ...]) -> Array:
    """Seen planes as they are, and the others between the nearest seen ones, along one axis after the other.

    values: (*shape, c) in [0, 1], read where seen: (*shape). axes: of `plane_axes`. Outside the first and the last seen
    plane of a line these are repeated.

    >>> ramp = np.broadcast_to(np.float32([0.0, 9.0, 1.0])[:, None, None, None], (3, 8, 8, 1))
    >>> seen = np.broadcast_to(np.array([True, False, True])[:, None, None], (3, 8, 8))
    >>> float(fill_planes(ramp, seen, (0,))[1].mean().round(3))
    0.5
    """
    front = tuple(range(len(axes)))
    filled = np.moveaxis(np.where(seen[..., None], values, np.float32(0)), axes, front)  # (*planes, H, W, c)
    known: Mask = np.asarray(np.moveaxis(seen, axes, front).all((-2, -1)))  # (*planes,)
    for axis in reversed(front):
        lines = np.moveaxis(filled, axis, len(axes) - 1), np.moveaxis(known, axis, -1)  # views: filled in place
        jobs: list[Callable[[], None]] = []
        for line in product(*map(range, lines[1].shape[:-1])):
            jobs += _fill_line(lines[0][line], lines[1][line])
        parallel_map(lambda job: job(), jobs)
        known = np.broadcast_to(np.any(known, axis, keepdims=True), known.shape)
    return np.moveaxis(filled, front, axes)


def _fill_line(planes: Array, known: Mask) -> list[Callable[[], None]]:
    """What fills the unknown of the planes (n, H, W, c) in place: a job for every gap between two known ones."""
    places = np.flatnonzero(known).tolist()
    if not places:
        return []
    planes[: places[0]], planes[places[-1] + 1 :] = planes[places[0]], planes[places[-1]]

    def job(first: int, last: int) -> Callable[[], None]:
        shares = (np.arange(1, last - first) / (last - first)).astype(np.float32)
        return lambda: planes.__setitem__(slice(first + 1, last), between(planes[first], planes[last], shares))

    return [job(a, b) for a, b in pairwise(places) if b - a > 1]


def between(first: Array, last: Array, shares: Array) -> Array:
    """Pictures on the way from one (H, W, c) to another, at shares (n,) of it: (n, H, W, c).

    With the motion f, last(x + f(x)) ≈ first(x), a place is seen as (1-s) first(x - s f) + s last(x + (1-s) f), and as
    the blend (1-s) first(x) + s last(x) of both at rest. The two are weighed by one over the fourth power of how much
    the pictures differ around there: where no motion explains them, they are blended.

    >>> left, right = np.zeros((2, 32, 32, 1), np.float32)
    >>> left[12:20, 8:16], right[12:20, 12:20] = 1, 1
    >>> middle = between(left, right, np.float32([0.5]))[0, 16, :, 0]
    >>> bool((middle[[11, 16]] > 0.6).all() and (middle[[8, 19]] < 0.45).all())  # both at rest: 0.5 at all four
    True
    """
    from scipy.ndimage import gaussian_filter
    from skimage.registration import optical_flow_tvl1

    blend = [(1 - s) * first + s * last for s in shares]
    if min(first.shape[:2]) < 16:  # too small for a pyramid of sizes
        return np.stack(blend)
    motion = optical_flow_tvl1(first.mean(-1), last.mean(-1), **_FLOW)  # type: ignore[no-untyped-call]
    at_rest = gaussian_filter(((first - last) ** 2).mean(-1), _AROUND) + _EQUAL
    drawn = []
    for s, still in zip(shares, blend, strict=True):
        back, on = moved(first, motion, -s), moved(last, motion, 1 - s)
        moving = gaussian_filter(((back - on) ** 2).mean(-1), _AROUND) + _EQUAL
        weight = (at_rest**2 / (at_rest**2 + moving**2))[..., None]
        drawn.append(weight * ((1 - s) * back + s * on) + (1 - weight) * still)
    return np.stack(drawn).astype(np.float32)


def moved(picture: Array, motion: Array, share: float) -> Array:
    """The picture (H, W, c) read at x + share · motion (2, H, W), by cubic splines; beyond its rim the rim."""
    from scipy.ndimage import map_coordinates

    places = np.indices(picture.shape[:2], np.float32) + np.float32(share) * motion
    channels = [map_coordinates(picture[..., k], places, order=3, mode="nearest") for k in range(picture.shape[-1])]
    return np.stack(channels, -1)
