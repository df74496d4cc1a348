"""The overall structure of a picture that was seen in part: what is left of it when finer detail is blurred away."""

from __future__ import annotations

from typing import Any

import torch

from alfilter.metrics.image import ssim


def structure(prediction: Any, target: Any, observe: str) -> float:
    """SSIM of truth and reconstruction, both blurred by σ = the mean distance of seen pixels: the overall structure.

    prediction, target: (H, W, c). observe: `random:SHARE`.
    """
    from scipy.ndimage import gaussian_filter

    sigma = float(observe.split(":")[1]) ** -0.5
    blurred = [
        torch.from_numpy(gaussian_filter(each.clamp(0, 1).double().numpy(), (sigma, sigma, 0), mode="nearest"))
        for each in (prediction, target)
    ]
    return ssim(*blurred)
