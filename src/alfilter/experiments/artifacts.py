"""What a result line keeps besides its scores: the curve, LPIPS if available, small pictures.

Pictures go into the line as base64 text, so that a line from any machine is complete and a report needs nothing else.
"""

from __future__ import annotations

import io
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alfilter.analysis.structure import busiest_square, gradient_energy
from alfilter.experiments.study import Lines

THUMBNAIL = 192  # side of the largest picture that is kept with a result line
MOVED = 1e-3  # channels; α whose standard deviation is less has stayed where it started
LPIPS = "lpips/lpips_alex_v0.1.npz"  # below the data folder


def lpips_if_available(prediction: Any, target: Any, data: str) -> dict[str, float]:
    """LPIPS where its weights are found: under $ALFILTER_LPIPS, or in the data folder."""
    from alfilter.metrics.image import lpips

    named = os.environ.get("ALFILTER_LPIPS") or str(Path(data) / LPIPS)
    return {"lpips": lpips(prediction, target, named)} if Path(named).is_file() else {}


def thinned_curve(history: Lines) -> list[list[float]]:
    """[step, PSNR] of the first hundred steps one by one, then about a hundred more.

    >>> len(thinned_curve([{"step": s, "psnr": 1.0} for s in range(1, 5001)]))
    200
    """
    points = [[line["step"], round(line["psnr"], 3)] for line in history]
    early = [point for point in points if point[0] <= 100]
    late = points[len(early) :]
    picked = {round(k) for k in np.linspace(0, len(late) - 1, min(100, len(late)))} if late else set()
    return early + [late[k] for k in sorted(picked)]


def observed_mask(task: Any) -> Any:
    """Which pixels of a picture's task are seen: (H, W), or none when all are."""
    mask = task.seen_mask()
    return None if mask is None else mask.view(task.signal.shape).numpy()


def thumbnails(model: Any, prediction: Any, target: Any, seen: Any = None) -> dict[str, Any]:
    """Small pictures as base64 PNG: truth, reconstruction, what was seen, and α with its range and its meaning.

    model: none for an interpolator. Of a picture larger than 192 pixels per side the most detailed square is kept, of α
    the whole.
    """
    from alfilter.analysis import alpha_map, filtered_encoding_of

    top, left = busiest_square(_gray(target), THUMBNAIL)
    window = (slice(top, top + THUMBNAIL), slice(left, left + THUMBNAIL))
    pictures = {"reference": png(target[window]), "reconstruction": png(prediction[window])}
    if seen is not None:
        pictures["observed"] = png(np.where(seen[..., None], target, 0.0)[window])
    line: dict[str, Any] = {"pictures": pictures, "window": [top, left, *target[window].shape[:2]]}
    encoding = None if model is None else filtered_encoding_of(model)
    if encoding is not None:
        shape = target.shape[:2]
        alpha = alpha_map(encoding, shape).numpy().astype(np.float64)
        low, high = float(alpha.min()), float(alpha.max())
        pictures["alpha"] = png((alpha - low) / max(high - low, 1e-9))
        line["alpha"] = {"low": low, "high": high, "spread": float(alpha.std()), "channels": encoding.axis,
                         "structure": alpha_structure(alpha, target)}  # fmt: skip
    return line


def alpha_structure(alpha: Any, target: Any) -> float | None:
    """Spearman's rank correlation of α (H, W) with the gradient energy of a picture (H, W, c) around each pixel.

    Both are means over 9×9 pixels. None where α did not move: ranks of a map that differs by less than a thousandth of
    a channel are those of rounding errors.
    """
    from scipy.ndimage import uniform_filter
    from scipy.stats import spearmanr

    energy = uniform_filter(gradient_energy(_gray(target)).numpy(), 9, mode="nearest")
    smooth = uniform_filter(alpha, 9, mode="nearest")
    if alpha.std() < MOVED or energy.std() < 1e-12:
        return None
    return float(spearmanr(smooth.ravel(), energy.ravel()).statistic)


def _gray(target: Any) -> Any:
    return torch.as_tensor(np.asarray(target, np.float64)).mean(-1)


def png(values: Any) -> str:
    """Values in [0, 1], (H, W) or (H, W, c), as the base64 text of an 8-bit PNG."""
    from PIL import Image

    pixels = np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
    pixels = pixels[..., 0] if pixels.ndim == 3 and pixels.shape[-1] == 1 else pixels
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", optimize=True)
    return b64encode(buffer.getvalue()).decode("ascii")
