"""Fitting scattered measurements: weighted least squares on the seen points, scores in the user's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.core.residual_loss import ResidualLoss
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, Scores, sample_points
from alfilter.signals import observed
from alfilter.signals.arrays import point_signal
from alfilter.signals.points import Array, Box, PointSignal, outside, read_points, support
from alfilter.tasks.base import Chunk, check_signal
from alfilter.tasks.gap_filling import Filling, point_filling
from alfilter.tasks.sampled import SampledTask

_FILLED = 4  # coordinates up to which values between the points are made


class PointTask(SampledTask):
    """Σ w_l |f(x_l) - y_l|² / Σ w_l over the seen points; values run from 0 to 1 inside the task.

    signal: the measurements. observe: `all`, `random:F`, or `every:K` along a single coordinate. seed: of a random
    observation.
    """

    def __init__(self, signal: PointSignal, observe: str = "all", seed: int = 0) -> None:
        check_signal(self, signal, PointSignal)
        self.signal = signal
        self.in_dim, self.out_dim, self.samples = signal.in_dim, signal.out_dim, signal.per_axis
        self.observe, self.seed = observe, seed
        seen = _seen(signal, observe, seed)
        index = torch.arange(len(signal)) if seen is None else seen
        super().__init__(len(index), seen)
        weight = torch.from_numpy(signal.weights)[index]
        if not bool(weight.sum() > 0):
            raise UserError("every seen point has weight 0; give some of them a weight, or see more of them")
        weight = (weight / weight.mean()).float()
        self._ready = signal.coords(index), torch.cat((signal.values(index), weight[:, None]), dim=1)
        self._reach = support(signal.box.inward(signal.places[index.numpy()]))
        self._digest = _digest(signal)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        coords: Sequence[str],
        values: Sequence[str],
        weight: str | None = None,
        observe: str = "all",
        seed: int = 0,
        noise: str | None = None,
    ) -> PointTask:
        """The task of some columns of a table."""
        return cls(read_points(path, coords, values, weight, noise), observe, seed)

    @classmethod
    def from_array(
        cls, places: Any, measured: Any, weights: Any = None, observe: str = "all", seed: int = 0
    ) -> PointTask:
        """The task of measurements (n,) or (n, c) at places (n,) or (n, d) in any units, of numpy or torch."""
        return cls(point_signal(places, measured, weights), observe, seed)

    def observation(self) -> tuple[int, int]:
        return self.count, self.count  # what is held out would not be there

    @property
    def has_gaps(self) -> bool:
        return True

    @property
    def has_noise(self) -> bool:
        return self.signal.noise_name is not None

    def filling_of(self, rows: Tensor) -> Filling | None:
        """As of every sampled task; none in so many dimensions that all is gap."""
        if self.in_dim > _FILLED:
            return None
        x, y = self.load(rows)
        counted = y[:, -1] > 0  # points of weight zero are ignored
        filling = point_filling(x[counted], y[counted, :-1], y[counted, -1])
        return Filling(filling.x, torch.cat((filling.y, torch.ones(len(filling.y), 1)), dim=1))

    def load(self, piece: slice | Tensor) -> Chunk:
        return self._ready[0][piece], self._ready[1][piece]

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        values, weight = target[..., :-1], target[..., -1:]  # the weight is the last channel
        return (weight * (prediction - values).square()).sum() / self.out_dim

    def loss_and_grad(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        error = prediction.detach() - target[..., :-1]
        share = error * (target[..., -1:] / self.out_dim)
        return (share * error).sum(), share.mul_(2)

    def residual_loss(self) -> ResidualLoss:
        return ResidualLoss(factor=1 / self.out_dim, weighted=True)

    def evaluate(self, field: Evaluate) -> Scores:
        return self.compare(self.predictions(field))

    def scored_places(self) -> int:
        return len(self.signal)

    def predictions(self, field: Evaluate) -> Array:
        """The field's values (n, c) at all points, in the user's units."""
        return self.signal.range.outward(2 * sample_points(field, self.signal.coords()).double().numpy() - 1)

    def compare(self, prediction: Array) -> Scores:
        """Scores of predictions (n, c), seen and held-out points apart; every point counts the same."""
        if self.seen is None:
            return Scores(self._scores(prediction, slice(None)), None, prediction)
        mask = np.zeros(len(self.signal), bool)
        mask[self.seen.numpy()] = True
        return Scores(self._scores(prediction, mask), self._scores(prediction, ~mask), prediction)

    def describe(self) -> dict[str, Any]:
        return {
            **self.signal.describe(),
            "support": self._reach.tolist(),
            "sha256": self._digest,
            "observe": self.observe,
            "observe_seed": self.seed,
            "observed": self.count,
        }

    def _scores(self, prediction: Array, rows: Any) -> dict[str, float]:
        span = np.array(self.signal.range.high) - np.array(self.signal.range.low)
        return point_scores(prediction[rows], self.signal.measured[rows], span, self.signal.value_names)


def point_scores(prediction: Array, target: Array, span: Array, names: Sequence[str]) -> dict[str, float]:
    """PSNR relative to the values' range, R² (mean over the values), and RMSE and MAE in the units of each value.

    prediction, target: (n, c). span: (c,), each value's largest minus its smallest.

    >>> one = point_scores(np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]), np.array([10.0]), ["t"])
    >>> round(one["psnr"], 2), round(one["rmse"], 4), one["mae"], one["r2"]
    (23.01, 0.7071, 0.5, -1.0)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a score that float64 cannot hold is infinite
        error = prediction - target
        relative = float(np.mean((error / span) ** 2))
        scores = {"psnr": -10 * math.log10(relative) if relative > 0 else math.inf}
        spread = ((target - target.mean(0)) ** 2).sum(0)
        if len(target) > 1 and (spread > 0).all():
            scores["r2"] = float(np.mean(1 - (error**2).sum(0) / spread))
        for k, name in enumerate(names):
            ending = "" if len(names) == 1 else f"_{name}"
            scores[f"rmse{ending}"] = float(np.sqrt(np.mean(error[:, k] ** 2)))
            scores[f"mae{ending}"] = float(np.mean(np.abs(error[:, k])))
    return scores


def predict(field: Evaluate, facts: dict[str, Any], places: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Values (n, c) in the user's units at places (n, d) in theirs, and which places lie outside the fitted region.

    facts: what `PointTask.describe` said. Outside the fitted box the field is evaluated at the box's nearest place, so
    that what is guessed there is at least bounded.
    """
    box, span = (
        Box(tuple(facts["low"]), tuple(facts["high"])),
        Box(tuple(facts["value_low"]), tuple(facts["value_high"])),
    )
    with np.errstate(over="ignore"):
        inward = box.inward(places)
    beyond = outside(np.clip(inward, -1e6, 1e6), np.array(facts["support"]))
    values = sample_points(field, torch.from_numpy(np.clip(inward, -1, 1)).float())
    return span.outward(2 * values.double().numpy() - 1), beyond


def _seen(signal: PointSignal, observe: str, seed: int) -> Tensor | None:
    if observe == "all":
        return None
    name = observe.partition(":")[0]
    if name == "mask" or (name == "every" and signal.in_dim > 1):
        raise UserError(f"points are observed by all or random:FRACTION, got {observe!r}; try random:0.8")
    mask = observed(observe, (len(signal),), seed)
    if mask.all():
        raise UserError(f"observe={observe} sees every point, so nothing is held out; say all", arguments=["observe"])
    return torch.from_numpy(np.flatnonzero(mask))


def _digest(signal: PointSignal) -> str:
    total = sha256()
    for array in (signal.places, signal.measured, signal.weights):
        total.update(np.ascontiguousarray(array).data)
    return total.hexdigest()
