"""A field as a callable, and what it scored."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from alfilter.runtime.thread_pool import flushed_denormals

Evaluate = Callable[[Tensor], Tensor]  # coordinates (n, d) → values (n, c)


def evaluator(field: Evaluate) -> Evaluate:
    """A field that takes coordinates from any device and of any type, and takes denormals for zero meanwhile.

    Other functions are left alone: they may rest on denormals, as scipy's trees of points do.
    """
    if not isinstance(field, nn.Module):
        return field
    module = field
    own = next((t for t in chain(field.parameters(), field.buffers()) if t.is_floating_point()), torch.empty(0))
    return flushed_denormals()(lambda x: module(x.to(own)))


@dataclass(frozen=True)
class Estimate:
    """What scores were estimated from: `samples` of `total`, and the standard error of each score."""

    samples: int
    total: int
    errors: dict[str, float]


@dataclass(frozen=True)
class Scores:
    """Metrics on what was seen, and on what was held out (None when nothing was).

    samples: what was compared (a prediction and its target, a surface …) where it was held whole, for drawing it.
    estimate: of scores that were not computed from all samples.
    """

    metrics: dict[str, float]
    heldout: dict[str, float] | None
    samples: Any = field(default=None, compare=False, repr=False)
    estimate: Estimate | None = None

    def plain(self) -> dict[str, dict[str, Any] | None]:
        """As JSON can hold them: an infinite PSNR (no error at all) becomes null.

        >>> Scores({"psnr": float("inf"), "ssim": 1.0}, None).plain()
        {'metrics': {'psnr': None, 'ssim': 1.0}, 'heldout': None, 'estimate': None}
        """
        estimate = self.estimate
        return {
            "metrics": _finite(self.metrics),
            "heldout": None if self.heldout is None else _finite(self.heldout),
            "estimate": None
            if estimate is None
            else {"samples": estimate.samples, "of": estimate.total, "standard_error": _finite(estimate.errors)},
        }


def _finite(scores: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in scores.items()}
