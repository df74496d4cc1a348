"""How close two sounds are."""

from __future__ import annotations

import math

from torch import Tensor


def snr(prediction: Tensor, target: Tensor, silence: float = 0.0) -> float:
    """Signal-to-noise ratio 10 log10(Σ (y - silence)² / Σ (ŷ - y)²) in dB, summed in float64; nothing is clipped.

    Infinite where nothing is wrong; minus infinite for errors in pure silence.

    >>> import torch
    >>> round(snr(torch.tensor([0.9, -0.9]), torch.tensor([1.0, -1.0])), 3)
    20.0
    """
    if prediction.shape != target.shape or target.numel() == 0:
        raise ValueError(f"expected two sounds of one shape, got {(*prediction.shape,)} and {(*target.shape,)}")
    wanted = target.detach().double()
    noise = float((prediction.detach().double() - wanted).square().sum())
    power = float((wanted - silence).square().sum())
    if noise == 0:
        return math.inf
    return 10 * math.log10(power / noise) if power > 0 else -math.inf
