"""Fitting samples on a grid of any dimension, all samples or the observed ones; `media.py` has the kinds of signals."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from alfilter.core.residual_loss import ResidualLoss
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, Scores, sample_grid
from alfilter.evaluate.estimated import WHOLE, estimated_scores, place_count
from alfilter.evaluate.streaming import is_large, streamed_scores
from alfilter.metrics.image import psnr, ssim
from alfilter.signals import GridSignal, observed, open_signal
from alfilter.tasks.base import Chunk, check_signal
from alfilter.tasks.gap_filling import Filling, grid_filling
from alfilter.tasks.pyramid import Pyramid, pyramid
from alfilter.tasks.sampled import SampledTask

_CACHED = 1 << 26  # numbers kept ready as float32; larger signals are normalised a chunk at a time


class GridTask(SampledTask):
    """Mean squared error on the observed samples of a grid signal.

    signal: the samples. observe: which of them are seen (`all`, `every:2`, `random:0.35`, `mask:FILE`).
    seed: of a random observation.
    """

    kind: str | None = None  # of the signals that `from_file` takes; none takes every grid

    @classmethod
    def from_file(cls, path: str | Path, observe: str = "all", seed: int = 0) -> Self:
        """The task of a file, a folder or a `sample:NAME` with a signal of this kind."""
        signal = open_signal(str(path))
        if not isinstance(signal, GridSignal) or signal.kind != (cls.kind or signal.kind):
            kind = cls.kind or "grid of samples"
            article = "an" if kind[0] in "aeiou" else "a"
            raise UserError(f"{article} {kind} was expected, {path} holds {signal.kind}; give another file")
        return cls(signal, observe, seed)

    def __init__(self, signal: GridSignal, observe: str = "all", seed: int = 0) -> None:
        check_signal(self, signal, GridSignal)
        self.signal = signal
        self.in_dim, self.out_dim, self.samples = signal.in_dim, signal.out_dim, signal.shape
        self.observe, self.seed = observe, seed
        self._digest = sha256(np.ascontiguousarray(signal.data).data).hexdigest()
        mask = None if observe == "all" else observed(observe, signal.shape, seed)
        seen = None if mask is None or mask.all() else torch.from_numpy(np.flatnonzero(mask))
        self._pyramid: Pyramid | None = None
        super().__init__(len(signal) if seen is None else len(seen), seen)
        self._ready = self._gather(None) if self.count * (self.in_dim + self.out_dim) <= _CACHED else None

    def observation(self) -> tuple[int, int]:
        return self.count, len(self.signal)

    @property
    def has_gaps(self) -> bool:
        return self.seen is not None

    def filling_of(self, rows: Tensor) -> Filling | None:
        return grid_filling(self.signal, rows if self.seen is None else self.seen[rows])

    def pyramid(self) -> Pyramid | None:
        if self.seen is not None:
            return super().pyramid()
        if self._pyramid is None:
            self._pyramid = pyramid(self.signal)
        return self._pyramid

    def load(self, piece: slice | Tensor) -> Chunk:
        if self._ready is not None:
            x, y = self._ready
            if isinstance(piece, slice):
                return x[piece], y[piece]
            return x.index_select(0, piece), y.index_select(0, piece)  # many times faster than x[piece] for short rows
        return self._gather(torch.arange(piece.start, piece.stop) if isinstance(piece, slice) else piece)

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return mse_loss(prediction, target.expand_as(prediction), reduction="sum") / self.out_dim

    def loss_and_grad(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        error = prediction.detach() - target
        flat = error.reshape(-1)
        return torch.dot(flat, flat) / self.out_dim, error.mul_(2 / self.out_dim)

    def residual_loss(self) -> ResidualLoss:
        return ResidualLoss(factor=1 / self.out_dim)

    def evaluate(self, field: Evaluate) -> Scores:
        if is_large(self.signal.shape):
            return self.evaluate_in_bands(field)
        return self.compare(sample_grid(field, self.signal.shape), self.target())

    def estimate(self, field: Evaluate) -> Scores:
        if not self.is_estimated:
            return self.evaluate(field)
        return estimated_scores(field, self.signal, self.measures, self.seen_mask(), between=self._scores_between)

    @property
    def is_estimated(self) -> bool:
        return len(self.signal) > WHOLE

    def scored_places(self) -> int:
        return place_count(self.signal)

    def evaluate_in_bands(self, field: Evaluate) -> Scores:
        """The scores of `evaluate`, for signals that are never held whole as floating-point numbers."""
        mask = self.seen_mask()
        seen = None if mask is None else mask.view(self.signal.shape)
        return streamed_scores(field, self.signal, seen, between=self._scores_between)

    def seen_mask(self) -> Tensor | None:
        """Which samples (N,) are seen; none when all are."""
        if self.seen is None:
            return None
        mask = torch.zeros(len(self.signal), dtype=torch.bool)
        mask[self.seen] = True
        return mask

    @property
    def _scores_between(self) -> bool:
        """Whether the pixels farthest from every seen one are scored apart: the protocol of Tancik et al."""
        return self.seen is not None and self.observe == "every:2" and self.in_dim == 2 and min(self.signal.shape) > 1

    def target(self) -> Tensor:
        """The whole signal, normalised: (*shape, c)."""
        return self.signal.values().view(*self.signal.shape, self.out_dim)

    def compare(self, prediction: Tensor, target: Tensor) -> Scores:
        """Scores of a reconstruction (*shape, c), seen and held-out samples apart; the structure over the whole."""
        heldout: dict[str, float] | None = None
        rows = prediction.flatten(0, -2)[None], target.flatten(0, -2)[None]  # (1, N, c) each
        mask = self.seen_mask()
        if mask is None:
            metrics = self.measures(*rows)
        else:
            metrics = self.measures(*(row[:, mask] for row in rows))
            heldout = self.measures(*(row[:, ~mask] for row in rows))
            if self._scores_between:
                heldout["psnr_between"] = psnr(prediction[1::2, 1::2], target[1::2, 1::2])
        if self.in_dim == 2:
            metrics["ssim"] = ssim(prediction, target)
        return Scores(metrics, heldout, (prediction, target))

    def measures(self, prediction: Tensor, target: Tensor) -> dict[str, float]:
        """Scores of some samples (1, n, c), wherever they lie."""
        return {"psnr": psnr(prediction, target)}

    def describe(self) -> dict[str, Any]:
        return {
            **self.signal.describe(),
            "sha256": self._digest,
            "observe": self.observe,
            "observe_seed": self.seed,
            "observed": self.count,
        }

    def _gather(self, rows: Tensor | None) -> Chunk:
        index = rows if self.seen is None else (self.seen if rows is None else self.seen[rows])
        return self.signal.coords(index), self.signal.values(index)
