"""Which samples of a grid are seen; the rest are held out."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, nearest
from alfilter.signals.image import read_image
from alfilter.signals.mapped import is_npy, read_npy
from alfilter.signals.signal import GridSignal
from alfilter.signals.source import head
from alfilter.signals.volume import is_nifti, read_nifti

Seen = NDArray[np.bool_]


def observed(spec: str, shape: tuple[int, ...], seed: int = 0) -> Seen:
    """True where a sample of the grid `shape` is seen: `all`, `every:K`, `random:FRACTION` or `mask:FILE`.

    >>> observed("every:2", (3, 4)).astype(int).tolist()
    [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    >>> int(observed("random:0.25", (4, 4), seed=1).sum())
    4
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
    hint = nearest(name, ["all", "every:K", "random:FRACTION", "mask:FILE"])
    raise UserError(f"expected all, every:K, random:FRACTION or mask:FILE, got {spec!r}; {hint}")


def _every(argument: str, shape: tuple[int, ...]) -> Seen:
    """Samples whose index along every axis is a multiple of K."""
    step = int(argument) if argument.isascii() and argument.isdigit() else 0
    if step < 1:
        raise UserError(f"expected a whole number K of at least 1 in every:K, got {argument!r}; try every:2")
    seen = np.zeros(shape, bool)
    seen[(slice(None, None, step),) * len(shape)] = True
    return seen


def _random(argument: str, shape: tuple[int, ...], seed: int) -> Seen:
    """Exactly round(fraction · N) samples, at least one; shuffling flags needs one byte a sample."""
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
    """The shape as people say it: width first for an image."""
    return "x".join(map(str, reversed(shape)))
