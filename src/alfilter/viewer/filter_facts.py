"""What a page must know about a field's filter: its axis, its frequencies, its response at one place."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from alfilter.core.filter import band_response
from alfilter.encodings import FilteredEncoding, FilteredFourier

_SAMPLED = 1 << 20  # values of α that its range is taken from


def filter_facts(encoding: FilteredEncoding, across: float = 1.0) -> dict[str, Any]:
    """Sizes and bounds of the filter, and the ranges of α and of the cut-off (from the 1st to the 99th percentile).

    across: what frequencies are divided by: 1 leaves them in cycles across the domain, the samples across it make them
    cycles per sample.
    """
    alpha = encoding.alpha.values.detach().flatten() * encoding.alpha.unit
    sampled = alpha[:: max(1, len(alpha) // _SAMPLED)]
    low, high = torch.quantile(sampled, torch.tensor([0.01, 0.99]))
    return {
        "unit": "channels" if isinstance(encoding, FilteredFourier) else "levels",
        "levels": encoding.levels,
        "kappa": encoding.kappa,
        "channels": encoding.axis,
        "grid": list(encoding.alpha.values.shape[:-1]),
        "range": [float(low), float(high)],
        "bounds": [max(encoding.alpha.low, float(alpha.min())), min(encoding.alpha.high, float(alpha.max()))]
        if math.isinf(encoding.alpha.high)
        else [encoding.alpha.low, encoding.alpha.high],
        "cycles": (encoding.level_frequencies() / across).tolist(),
        "cut_off": [float(encoding.frequency(each)) / across for each in (low, high)],
    }


def filter_at(encoding: FilteredEncoding, place: list[float], across: float = 1.0) -> dict[str, Any]:
    """α and the cut-off at a place (d coordinates in [-1, 1]), and what passes there of every channel and scale."""
    with torch.inference_mode():
        alpha = encoding.alpha(torch.tensor([place], dtype=torch.float32))
        return {
            "alpha": float(alpha[0]),
            "frequency": float(encoding.frequency(alpha)[0]) / across,
            "response": _along_axis(encoding, alpha)[0].tolist(),
            "scales": encoding.response(alpha)[0].tolist(),
        }


def _along_axis(encoding: FilteredEncoding, alpha: Tensor) -> Tensor:
    """The response of every channel or level: (...) → (..., axis)."""
    if isinstance(encoding, FilteredFourier):
        return band_response(alpha, encoding.axis, encoding.bandwidth, encoding.kappa)
    return encoding.response(alpha)
