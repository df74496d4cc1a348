"""Scattered measurements {(x_l, y_l)} in the user's own units, for any number of coordinates and values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.errors import UserError
from alfilter.signals.signal import Signal
from alfilter.signals.tables import column_names, read_columns

Array = NDArray[np.float64]

DIMENSIONS = 4  # coordinates a file may have
_FLAT = 1e-6  # points thinner than this, relative to their extent, do not span their space


@dataclass(frozen=True)
class Box:
    """An axis-aligned box in the user's units and the way to [-1, 1]^d and back, in float64.

    >>> box = Box((0.0, 10.0), (4.0, 30.0))
    >>> box.inward(np.array([[1.0, 30.0]])).tolist()
    [[-0.5, 1.0]]
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def around(cls, rows: Array) -> Box:
        """The smallest box that holds rows (n, d); an axis without extent gets one."""
        low, high = rows.min(0), rows.max(0)
        with np.errstate(over="ignore"):
            extent = high - low
        if not np.isfinite(extent).all():
            axis = int(np.argmin(np.isfinite(extent)))
            got = f"{low[axis]:g} to {high[axis]:g}"
            raise UserError(f"expected numbers whose range a float64 holds, got {got}; scale them first")
        flat = ~(extent > 0)
        # a constant sits in the middle of its axis
        pad = np.where(flat, np.maximum(1.0, np.abs(low)), 0.0)
        return cls(tuple((low - pad).tolist()), tuple((high + pad).tolist()))

    def inward(self, rows: Array) -> Array:
        """Rows (n, d) as places in [-1, 1]^d."""
        low, high = np.array(self.low), np.array(self.high)
        inside: Array = (rows - low) / (high - low) * 2 - 1
        return inside

    def outward(self, places: Array) -> Array:
        """Places (n, d) in [-1, 1]^d back in the user's units."""
        low, high = np.array(self.low), np.array(self.high)
        rows: Array = low + (places + 1) / 2 * (high - low)
        return rows


@final
class PointSignal(Signal):
    """Measurements (n, c) at places (n, d), with a weight each; in memory in the order of their places.

    Measurements at one place become their weighted mean with the sum of their weights: the least-squares problem stays
    the same, and no place can be both seen and held out. Coordinates are brought to [-1, 1] and values to [0, 1] by
    their own extremes, axis by axis and in float64, so units and offsets of any size lose nothing.

    >>> signal = PointSignal(np.array([[10.0], [30.0], [10.0]]), np.array([[1.0], [5.0], [2.0]]))
    >>> len(signal), signal.merged, signal.coords().tolist(), signal.values().tolist()
    (2, 1, [[-1.0], [1.0]], [[0.0], [1.0]])
    """

    kind = "points"

    def __init__(
        self,
        places: Array,
        measured: Array,
        weights: Array | None = None,
        *,
        coord_names: Sequence[str] = (),
        value_names: Sequence[str] = (),
        weight_name: str | None = None,
        noise_name: str | None = None,
        dropped: int = 0,
    ) -> None:
        self.coord_names = list(coord_names) or [f"x{k}" for k in range(places.shape[1])]
        self.value_names = list(value_names) or [f"y{k}" for k in range(measured.shape[1])]
        self.weight_name, self.noise_name = weight_name, noise_name
        self.rows, self.dropped = len(places) + dropped, dropped
        weights = np.ones(len(places)) if weights is None else weights
        self.places, self.measured, self.weights = _merge(places, measured, weights)
        self.merged = len(places) - len(self.places)
        self.box, self.range = Box.around(self.places), Box.around(self.measured)
        self._coords = torch.from_numpy(self.box.inward(self.places)).float()
        self._values = torch.from_numpy((self.range.inward(self.measured) + 1) / 2).float()

    @property
    def in_dim(self) -> int:
        return int(self.places.shape[1])

    @property
    def out_dim(self) -> int:
        return int(self.measured.shape[1])

    @property
    def per_axis(self) -> tuple[int, ...]:
        """Samples per axis of a full grid with as many points: n^(1/d), at most the different values of an axis.

        What follows a grid's size (the α grid, the unit of jitter) takes this for scattered points.
        """
        even = max(2, round(len(self) ** (1 / self.in_dim)))
        return tuple(min(max(2, len(np.unique(column))), even) for column in self.places.T)

    def __len__(self) -> int:
        return len(self.places)

    def coords(self, index: Tensor | None = None) -> Tensor:
        return self._coords if index is None else self._coords[index]

    def values(self, index: Tensor | None = None) -> Tensor:
        return self._values if index is None else self._values[index]

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "coords": self.coord_names,
            "values": self.value_names,
            "weight": self.weight_name,
            **({"noise": self.noise_name} if self.noise_name else {}),
            "low": list(self.box.low),
            "high": list(self.box.high),
            "value_low": list(self.range.low),
            "value_high": list(self.range.high),
            "rows": self.rows,
            "dropped": self.dropped,
            "merged": self.merged,
        }


def inverse_variances(spreads: Array) -> Array:
    """Weights 1/s² of measurements with standard deviations s (n,), relative to the most certain.

    >>> inverse_variances(np.array([1e-300, 2e-300])).tolist()
    [1.0, 0.25]
    """
    weights: Array = (spreads.min() / spreads) ** 2
    return weights


def read_points(
    path: str | Path,
    coords: Sequence[str],
    values: Sequence[str],
    weight: str | None = None,
    noise: str | None = None,
) -> PointSignal:
    """The measurements of a table, checked. A row without one of its values is dropped and counted.

    weight: the column that weighs the rows; or noise: that of their standard deviations s, which weigh 1/s².
    """
    file = Path(path).expanduser()
    if not coords or not values:
        known = ", ".join(column_names(file)[:20])
        raise UserError(
            f"{file} is a table with the columns {known}; name them: coords say where, values are fitted",
            arguments=["coords", "values"],
        )
    if len(coords) > DIMENSIONS:
        raise UserError(
            f"expected 1 to {DIMENSIONS} coordinates, got {len(coords)} ({','.join(coords)}); name fewer",
            arguments=["coords"],
        )
    if weight and noise:
        raise UserError(
            f"expected weights or standard deviations, got weight={weight} and noise={noise}; name one",
            arguments=["weight", "noise"],
        )
    names = [*coords, *values, *filter(None, (weight, noise))]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"expected every column in one role, got {twice!r} twice; name it once")
    columns = read_columns(file, names)
    places = np.stack([columns[name] for name in coords], axis=1)
    measured = np.stack([columns[name] for name in values], axis=1)
    weights = columns[weight] if weight else None
    _check_coordinates(file, coords, places)
    _check_weights(file, weight, weights)
    if noise:
        _check_spreads(file, noise, columns[noise])
        weights = inverse_variances(columns[noise])
    for name, column in zip(values, measured.T, strict=True):
        if count := int(np.isinf(column).sum()):
            raise UserError(f"expected finite numbers in column {name!r} of {file}, got {count} infinite; correct them")
    whole: NDArray[np.bool_] = ~np.any(np.isnan(measured), axis=1)
    signal = None
    if whole.any():
        signal = PointSignal(
            places[whole],
            measured[whole],
            None if weights is None else weights[whole],
            coord_names=coords,
            value_names=values,
            weight_name=weight,
            noise_name=noise,
            dropped=int((~whole).sum()),
        )
    _check_spread(file, signal, coords, values, len(whole))
    assert signal is not None
    return signal


def read_places(path: str | Path, coords: Sequence[str]) -> Array:
    """Query points (n, d) of a table, all of them finite."""
    file = Path(path).expanduser()
    columns = read_columns(file, coords)
    places = np.stack([columns[name] for name in coords], axis=1)
    _check_coordinates(file, coords, places)
    return places


def directions(dims: int) -> Array:
    """Fixed directions (k, d), axes included, whose half-spaces bound a cloud of points: 64 in the plane, else 3^d-1.

    >>> directions(1).tolist()
    [[-1.0], [1.0]]
    """
    if dims == 2:
        angle = np.arange(64) * (math.pi / 32)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if dims > DIMENSIONS:  # 3^d grows too fast: the box alone
        return np.concatenate([np.eye(dims), -np.eye(dims)])
    steps = np.array([step for step in product((-1.0, 0.0, 1.0), repeat=dims) if any(step)])
    unit: Array = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    return unit


def support(places: Array) -> Array:
    """max_l n·x_l of every direction n: the smallest polytope with these faces around places (n, d) in [-1, 1]^d."""
    reach: Array = np.max(places @ directions(places.shape[1]).T, axis=0)
    return reach


def outside(places: Array, reach: Array) -> NDArray[np.bool_]:
    """Which places (n, d) lie outside the polytope of `support`, beyond rounding.

    >>> reach = support(np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]))
    >>> outside(np.array([[0.9, 0.9], [-0.5, -0.5]]), reach).tolist()
    [True, False]
    """
    beyond: NDArray[np.bool_] = np.any(places @ directions(places.shape[1]).T > reach + 1e-6, axis=1)
    return beyond


def _merge(places: Array, measured: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Rows in the order of their places, the rows of one place averaged by weight."""
    order = np.lexsort((*measured.T[::-1], *places.T[::-1]))
    places, measured, weights = places[order], measured[order], weights[order]
    first = np.concatenate([[True], (places[1:] != places[:-1]).any(1)])
    if first.all():
        return places, measured, weights
    starts = np.flatnonzero(first)
    count = np.diff(np.append(starts, len(places)))
    total = np.add.reduceat(weights, starts)
    # a place whose weights are all zero still has a mean
    share = np.where(np.repeat(total, count) > 0, weights, 1.0)
    share = share / np.repeat(np.add.reduceat(share, starts), count)
    return places[starts], np.add.reduceat(measured * share[:, None], starts, axis=0), total


def _check_coordinates(file: Path, names: Sequence[str], places: Array) -> None:
    for name, column in zip(names, places.T, strict=True):
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            raise UserError(
                f"expected a finite coordinate in column {name!r} of {file}, got {len(bad)} missing or infinite, the "
                f"first in data row {bad[0] + 1}; remove those rows"
            )


def _check_weights(file: Path, name: str | None, weights: Array | None) -> None:
    if weights is None:
        return
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise UserError(
            f"expected weights of at least 0 in column {name!r} of {file}, got {weights[bad[0]]:g} in data row "
            f"{bad[0] + 1}; correct them"
        )
    if not (weights > 0).any():
        raise UserError(f"expected some weight above 0 in column {name!r} of {file}, got none; correct them")


def _check_spreads(file: Path, name: str, spreads: Array) -> None:
    bad = np.flatnonzero(~(np.isfinite(spreads) & (spreads > 0)))
    if len(bad):
        raise UserError(
            f"expected standard deviations above 0 in column {name!r} of {file}, got {spreads[bad[0]]:g} in data row "
            f"{bad[0] + 1}; correct them"
        )


def _check_spread(
    file: Path, signal: PointSignal | None, coords: Sequence[str], values: Sequence[str], rows: int
) -> None:
    """Refuse what does not determine a field: too few points, points on a line, nothing that varies."""
    if signal is None:
        raise UserError(f"expected rows with all of {', '.join(values)} in {file}, got none of {rows}; fill some in")
    if len(signal) < 2:
        raise UserError(f"expected at least two different points in {file}, got {len(signal)}; give more measurements")
    for name, column in zip(coords, signal.places.T, strict=True):
        if np.ptp(column) == 0:
            raise UserError(
                f"expected different coordinates in column {name!r} of {file}, got {column[0]:g} everywhere; leave it "
                "out"
            )
    centred = signal.box.inward(signal.places)
    sizes = np.linalg.svd(centred - centred.mean(0), compute_uv=False)
    if len(sizes) < signal.in_dim or sizes[-1] < _FLAT * sizes[0]:
        flat = "a line" if signal.in_dim == 2 else "a line or a plane"
        raise UserError(
            f"expected points that spread over {signal.in_dim} coordinates in {file}, got all of them on {flat}; "
            "leave out a coordinate"
        )
    for name, column in zip(values, signal.measured.T, strict=True):
        if np.ptp(column) == 0:
            raise UserError(
                f"expected different values in column {name!r} of {file}, got {column[0]:g} everywhere; there is "
                "nothing to fit"
            )
