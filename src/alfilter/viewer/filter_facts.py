"""What a page must know about a field's filter: its channel axis, its frequencies, its response at one place."""

from __future__ import annotations

import math
from typing import Any

import torch

from alfilter.core.filter import band_response, scale_response
from alfilter.encodings import FilteredFourier

_SAMPLED = 1 << 20  # values of α that its range is taken from


def filter_facts(encoding: FilteredFourier, cycles: Any) -> dict[str, Any]:
    """Sizes, bounds and range of α (from the 1st to the 99th percentile), in channels.

    cycles: of every scale, in the page's own unit.
    """
    alpha = encoding.alpha.values.detach().flatten() * encoding.alpha.unit
    sampled = alpha[:: max(1, len(alpha) // _SAMPLED)]
    low, high = (float(q) for q in torch.quantile(sampled, torch.tensor([0.01, 0.99])))
    return {
        "levels": encoding.levels,
        "bandwidth": encoding.bandwidth,
        "kappa": encoding.kappa,
        "channels": 2 * encoding.in_dim * encoding.levels,
        "grid": list(encoding.alpha.values.shape[:-1]),
        "range": [low, high],
        "bounds": [max(encoding.alpha.low, float(alpha.min())), min(encoding.alpha.high, float(alpha.max()))]
        if math.isinf(encoding.alpha.high)
        else [encoding.alpha.low, encoding.alpha.high],
        "cycles": cycles,
    }


def filter_at(encoding: FilteredFourier, place: list[float]) -> dict[str, Any]:
    """α at a place (d coordinates in [-1, 1]), H_B of every channel and the mean of every scale's channels there."""
    with torch.inference_mode():
        alpha = encoding.alpha(torch.tensor([place], dtype=torch.float32))
        shape = encoding.bandwidth, encoding.kappa
        response = band_response(alpha, 2 * encoding.in_dim * encoding.levels, *shape)[0]
        scales = scale_response(alpha, encoding.in_dim, encoding.levels, *shape)[0]
    return {"alpha": float(alpha[0]), "response": response.tolist(), "scales": scales.tolist()}
