"""The fitted picture between its pixels: the nearest of them, or cubic convolution, at any places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from alfilter.signals import GridSignal

Array = NDArray[np.float64]


def nearest(signal: GridSignal, rows: Tensor, columns: Tensor) -> Array:
    """The sample nearest to each place: (rows, columns, c). rows, columns: places in samples.

    >>> import torch
    >>> signal = GridSignal(np.array([[[0], [255]]], dtype=np.uint8))
    >>> nearest(signal, torch.zeros(1), torch.tensor([-0.4, 0.4, 0.6])).flatten().tolist()
    [0.0, 0.0, 1.0]
    """
    index = [
        np.floor(places.double().numpy() + 0.5).clip(0, samples - 1).astype(np.int64)
        for places, samples in zip((rows, columns), signal.shape, strict=True)
    ]
    return _gather(signal, index[0], index[1])


def bicubic(signal: GridSignal, rows: Tensor, columns: Tensor) -> Array:
    """Cubic convolution (Keys 1981, a = -1/2) along both axes; borders repeat: (rows, columns, c)."""
    taps = [_taps(places.double().numpy(), n) for places, n in zip((rows, columns), signal.shape, strict=True)]
    (at_row, by_row), (at_column, by_column) = taps
    near = _gather(signal, at_row.reshape(-1), at_column.reshape(-1))
    near = near.reshape(*at_row.shape, *at_column.shape, signal.out_dim)  # (R, 4, C, 4, c)
    values: Array = np.einsum("iajbc,ia,jb->ijc", near, by_row, by_column, optimize=True)
    return values


def keys_kernel(t: Array) -> Array:
    """Weights (..., 4) of the samples at -1, 0, 1, 2 for a place t in [0, 1] between 0 and 1; they sum to 1.

    >>> keys_kernel(np.array([0.5])).tolist()
    [[-0.0625, 0.5625, 0.5625, -0.0625]]
    """
    return np.stack(
        (
            ((-0.5 * t + 1) * t - 0.5) * t,
            (1.5 * t - 2.5) * t * t + 1,
            ((-1.5 * t + 2) * t + 0.5) * t,
            (t - 1) * t * t / 2,
        ),
        axis=-1,
    )


def _taps(places: Array, samples: int) -> tuple[NDArray[np.int64], Array]:
    base = np.floor(places)
    index = base[:, None] + np.arange(-1, 3)  # (n, 4)
    return index.clip(0, samples - 1).astype(np.int64), keys_kernel(places - base)


def _gather(signal: GridSignal, rows: NDArray[Any], columns: NDArray[Any]) -> Array:
    """Normalised samples at every pair of rows and columns."""
    values = signal.data[np.ix_(rows, columns)].astype(np.float64)
    normalised: Array = (values - signal.low) / (signal.high - signal.low)
    return normalised
