"""Which samples of a grid are seen; the rest are held out."""

from __future__ import annotations

import re
from math import prod

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, closest
from alfilter.signals.file_checks import head
from alfilter.signals.image import read_image
from alfilter.signals.mapped import is_npy, read_npy
from alfilter.signals.signal import GridSignal
from alfilter.signals.volume import is_nifti, read_nifti

_WHOLE = r"[0-9]{1,15}"
Seen = NDArray[np.bool_]
# parts of a signal: how many axes it has, what a part is, and an example
PARTS = {
    "frames": (3, "a video", "frames:every:2 or frames:0,4,8"),
    "slices": (3, "a volume", "slices:2:every:2 or slices:0:0,4,8"),
    "views": (4, "a light field", "views:every:2 or views:0,0;2,2"),
}
# every way to say which samples are seen
KINDS = {
    "all": "all",
    "every": "every:K",
    "random": "random:FRACTION",
    "mask": "mask:FILE",
    "frames": "frames:WHICH",
    "slices": "slices:AXIS:WHICH",
    "views": "views:WHICH",
}


def observed(spec: str, shape: tuple[int, ...], seed: int = 0) -> Seen:
    """True where a sample of the grid `shape` is seen: `all`, `every:K`, `random:FRACTION`, `mask:FILE`, or parts.

    Parts of a signal of three axes are `frames:WHICH` along the first, or `slices:AXIS:WHICH`, WHICH being `every:K` or
    numbers like `0,4,8`. Those of a light field are `views:every:K` or `views:U,V;U,V`.

    >>> observed("every:2", (3, 4)).astype(int).tolist()
    [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    >>> int(observed("random:0.25", (4, 4), seed=1).sum())
    4
    >>> observed("frames:every:2", (3, 1, 2)).astype(int).tolist()
    [[[1, 1]], [[0, 0]], [[1, 1]]]
    """
    name, _, argument = spec.partition(":")
    if spec == "all":
        return np.ones(shape, bool)
    if name == "every":
        return _every(argument, shape)
    if name == "random":
        return _random(argument, shape, seed)
    if name == "mask":
        return _mask(argument, shape)
    if name in PARTS:
        return _parts(name, argument, shape)
    close = closest(name, KINDS)
    known = f"did you mean {KINDS[close]!r}?" if close else f"known: {', '.join(KINDS.values())}"
    raise UserError(f"expected which samples are seen, got {spec!r}; {known}", arguments=["observe"])


def _every(argument: str, shape: tuple[int, ...]) -> Seen:
    """Samples whose index along every axis is a multiple of K."""
    step = int(argument) if re.fullmatch(_WHOLE, argument) else 0
    if step < 1:
        raise UserError(f"expected a whole number K of at least 1 in every:K, got {argument!r}; try every:2")
    seen = np.zeros(shape, bool)
    seen[(slice(None, None, step),) * len(shape)] = True
    return seen


def _random(argument: str, shape: tuple[int, ...], seed: int) -> Seen:
    """Exactly round(fraction · N) samples, at least one; shuffling flags needs one byte per sample."""
    try:
        fraction = float(argument)
    except ValueError:
        fraction = -1.0
    if not 0 < fraction <= 1:
        raise UserError(f"expected a fraction in (0, 1] in random:FRACTION, got {argument!r}; try random:0.35")
    seen = np.zeros(prod(shape), bool)
    seen[: max(1, round(fraction * seen.size))] = True
    np.random.default_rng(seed).shuffle(seen)
    return seen.reshape(shape)


def _parts(name: str, argument: str, shape: tuple[int, ...]) -> Seen:
    """Whole frames, slices or views."""
    dims, owner, example = PARTS[name]
    if len(shape) != dims:
        raise UserError(f"{name} are parts of {owner}, the signal has {len(shape)} axes; try every:2 or random:0.35")
    seen = np.zeros(shape, bool)
    if name == "views":
        for u, v in _chosen_views(argument, shape[:2], example):
            seen[u, v] = True
        return seen
    axis, _, which = argument.partition(":") if name == "slices" else ("0", "", argument)
    if axis not in ("0", "1", "2"):
        raise UserError(f"expected an axis from 0 to 2 in slices:AXIS:WHICH, got {axis!r}; try {example}")
    along = np.moveaxis(seen, int(axis), 0)
    along[_numbers(which, shape[int(axis)], name, example)] = True
    return seen


def _chosen_views(argument: str, counts: tuple[int, ...], example: str) -> list[tuple[int, int]]:
    """The views of `every:K`, in both directions, or those that are named."""
    if argument.startswith("every:"):
        down, across = (_numbers(argument, count, "views", example) for count in counts)
        return [(u, v) for u in down for v in across]
    pairs = [pair.split(",") for pair in argument.split(";") if pair.strip()]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise UserError(f"expected every:K or views like U,V;U,V in views:WHICH, got {argument!r}; try {example}")
    return [(_number(u, counts[0], "views", example), _number(v, counts[1], "views", example)) for u, v in pairs]


def _numbers(which: str, count: int, name: str, example: str) -> list[int]:
    """Positions along an axis of `count`: every K-th, or those that are named."""
    if which.startswith("every:"):
        return np.flatnonzero(_every(which.removeprefix("every:"), (count,))).tolist()
    words = [word for word in which.split(",") if word.strip()]
    if not words:
        raise UserError(f"expected every:K or numbers like 0,4,8 in {name}, got {which!r}; try {example}")
    return [_number(word, count, name, example) for word in words]


def _number(word: str, count: int, name: str, example: str) -> int:
    place = int(word) if re.fullmatch(_WHOLE, word.strip()) else -1
    if not 0 <= place < count:
        raise UserError(f"expected numbers from 0 to {count - 1} in {name}, got {word.strip()!r}; try {example}")
    return place


def _mask(argument: str, shape: tuple[int, ...]) -> Seen:
    """Samples where an image or volume of the same size is not zero in some colour channel; alpha does not count."""
    if not argument:
        raise UserError("expected a file in mask:FILE, got none; try mask:seen.png")
    mask = _read_mask(argument, len(shape))
    if mask.shape != shape:
        raise UserError(f"expected a mask of size {_size(shape)}, got {_size(mask.shape)}; resize {argument}")
    colours = mask.data[..., :1] if mask.out_dim < 3 else mask.data[..., :3]
    seen: Seen = (colours != 0).any(-1)
    if not seen.any():
        raise UserError(f"expected a mask that shows something, got zero everywhere; paint what is seen in {argument}")
    return seen


def _read_mask(path: str, dims: int) -> GridSignal:
    """A picture; for a volume a .npy or NIfTI file too."""
    start = head(path, 512) if dims == 3 else b""
    if is_npy(start):
        return read_npy(path)
    return read_nifti(path) if is_nifti(start) else read_image(path)


def _size(shape: tuple[int, ...]) -> str:
    """The shape as it is usually written: width first for an image."""
    return "x".join(map(str, reversed(shape)))
