"""What is represented: samples at coordinates in [-1, 1]^d with values in [0, 1]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import prod
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.errors import UserError

_BAND = 1 << 22  # samples processed at once when the range of float data is measured


def grid_coords(shape: tuple[int, ...], index: Tensor | None = None) -> Tensor:
    """Coordinates (n, d) in [-1, 1]^d of the flat row-major samples `index` of a grid, or of all of them.

    x_k = (2 i_k - (n_k - 1)) / (n_k - 1): the numerator is an exact integer and the quotient is rounded once, so the
    ends are exactly -1 and 1 and x(n-1-i) = -x(i). An axis with one sample sits at 0.

    >>> grid_coords((2, 3)).tolist()
    [[-1.0, -1.0], [-1.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    if index is None:
        axes = [_axis(torch.arange(n), n) for n in shape]
        return torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).reshape(-1, len(shape))  # (N, d)
    flat = _checked(index, prod(shape))
    coords = torch.empty(len(flat), len(shape), device=flat.device)  # (n, d)
    for k in reversed(range(len(shape))):
        coords[:, k] = _axis(flat % shape[k], shape[k])
        flat = flat.div(shape[k], rounding_mode="floor")
    return coords


def _axis(i: Tensor, n: int) -> Tensor:
    """Positions of the samples `i` of an axis of `n`; float64 holds every numerator, so float32 rounds once."""
    return torch.zeros_like(i, dtype=torch.float32) if n == 1 else ((2 * i - (n - 1)).double() / (n - 1)).float()


def _checked(index: Tensor, count: int) -> Tensor:
    """The flat indices as int64; an index off the grid would otherwise wrap around silently."""
    if index.dim() != 1 or index.is_floating_point() or index.dtype == torch.bool:
        raise TypeError(f"expected flat integer indices (n,), got {index.dtype} of shape {tuple(index.shape)}")
    if len(index) and (int(index.min()) < 0 or int(index.max()) >= count):
        raise IndexError(f"expected indices in [0, {count}), got {int(index.min())} to {int(index.max())}")
    return index.long()


class Signal(ABC):
    """Samples of something: coordinates (n, d) in [-1, 1]^d and values (n, c) in [0, 1], gathered by flat index."""

    kind: str

    @property
    @abstractmethod
    def in_dim(self) -> int:
        """The number of coordinates d."""

    @property
    @abstractmethod
    def out_dim(self) -> int:
        """The number of value channels c."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def coords(self, index: Tensor | None = None) -> Tensor:
        """Coordinates (n, d), float32, of the samples `index`, or of all."""

    @abstractmethod
    def values(self, index: Tensor | None = None) -> Tensor:
        """Values (n, c), float32, of the samples `index`, or of all."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The facts a model file keeps about the signal, ready for JSON."""


@final
class GridSignal(Signal):
    """Samples on a regular grid of any dimension, kept as they are stored and normalised a gathered row at a time.

    uint8 and uint16 count from 0 to 255 and 65535; other numbers run from `low` to `high`: `span` when it is given,
    (0, 1) when they lie within it and fill a hundredth of it, else their own finite minimum and maximum.
    value = (data - low) / (high - low). facts: more of what a model file keeps, such as a sound's rate.

    >>> signal = GridSignal(np.array([[[0], [255]], [[51], [102]]], dtype=np.uint8))
    >>> signal.values(torch.tensor([1, 2])).flatten().tolist() == [1.0, torch.tensor(0.2).item()]
    True
    """

    def __init__(
        self,
        data: NDArray[Any],
        *,
        kind: str = "image",
        mode: str | None = None,
        bits: int | None = None,
        span: tuple[float, float] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        if data.ndim < 2 or data.size == 0:
            raise UserError(f"expected samples of shape (*grid, channels), got {data.shape}; give at least one sample")
        if data.dtype.kind not in "uif":
            raise UserError(f"expected integer or float samples, got {data.dtype}; convert them first")
        native = data.dtype.newbyteorder("=")
        # torch and numba read native byte order only; a contiguous array or memory map is kept as it is
        self.data = data if data.dtype == native and data.flags.c_contiguous else np.ascontiguousarray(data, native)
        self.kind = kind
        self.mode = mode if mode is not None else f"{data.shape[-1]}ch"
        self.bits = bits if bits is not None else 8 * data.dtype.itemsize
        self.low, self.high = _span(self.data) if span is None else span
        if not 0 < self.high - self.low < np.inf:
            got = f"{self.low:g} to {self.high:g}"
            raise UserError(f"expected samples whose range a float64 holds, got {got}; scale them first")
        self.facts = dict(facts or {})

    @property
    def shape(self) -> tuple[int, ...]:
        """The grid's size, without the channels."""
        return tuple(self.data.shape[:-1])

    @property
    def in_dim(self) -> int:
        return self.data.ndim - 1

    @property
    def out_dim(self) -> int:
        return int(self.data.shape[-1])

    def __len__(self) -> int:
        return prod(self.shape)

    def coords(self, index: Tensor | None = None) -> Tensor:
        return grid_coords(self.shape, index)

    def values(self, index: Tensor | None = None) -> Tensor:
        rows = self.data.reshape(-1, self.out_dim)  # (N, c), a view
        if index is not None:
            rows = rows[_checked(index, len(self)).cpu().numpy()]
        if self.data.dtype.kind == "u" and self.low == 0:  # exact in float32, and one rounding by the division
            return torch.from_numpy(np.array(rows, dtype=np.float32)).div_(self.high)
        values = torch.empty(rows.shape, dtype=torch.float32)
        for start in range(0, len(rows), _BAND):  # float64 only a band at a time
            wide = (rows[start : start + _BAND].astype(np.float64) - self.low) / (self.high - self.low)
            values[start : start + _BAND] = torch.from_numpy(wide)
        return values

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "shape": list(self.shape),
            "channels": self.out_dim,
            "mode": self.mode,
            "bits": self.bits,
            "dtype": self.data.dtype.name,
            "low": self.low,
            "high": self.high,
            **self.facts,
        }


_FILLED = 0.01  # of the range from 0 to 1; what fills less would look fitted before anything is learned


def _span(data: NDArray[Any]) -> tuple[float, float]:
    """The stored numbers that become 0 and 1."""
    if data.dtype in (np.uint8, np.uint16):
        return 0.0, float(np.iinfo(data.dtype).max)
    low, high, flat = np.inf, -np.inf, data.reshape(-1)
    for start in range(0, flat.size, _BAND):  # band by band: a memory map is never read as a whole
        band = flat[start : start + _BAND]
        finite = band[np.isfinite(band)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:
        raise UserError("expected at least one finite sample, got only NaN or infinity; correct the data")
    if low >= 0 and high <= 1 and (high - low >= _FILLED or low == high):
        return 0.0, 1.0
    return low, high if high > low else low + max(1.0, abs(low))  # a constant signal has value 0 everywhere
