"""Scores of a grid estimated from some of its samples, with the standard error of each estimate."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from alfilter.evaluate.sampling import sample_points
from alfilter.evaluate.scores import Estimate, Evaluate, Scores
from alfilter.metrics.image import REACH, psnr_of, ssim_map
from alfilter.signals import GridSignal

WHOLE = 1 << 20  # samples up to which a grid is scored and drawn whole
SAMPLES = 1 << 18  # single samples that stand for the others
TILES = 256  # squares that SSIM is estimated from,
SIDE = 16  # each with this many pixels per side

Measures = Callable[[Tensor, Tensor], dict[str, float]]  # of two tensors (1, n, c)


def spread_index(total: int, count: int, seed: int = 0) -> Tensor:
    """`count` of `total` flat positions (count,) in order: one at random in each of `count` equal parts.

    >>> spread_index(4, 4).tolist()
    [0, 1, 2, 3]
    """
    edges = torch.arange(count + 1, dtype=torch.int64) * total // count
    width = edges[1:] - edges[:-1]
    inside = torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * width
    return edges[:-1] + torch.minimum(inside.long(), width - 1)


def place_count(signal: GridSignal) -> int:
    """How many places a field is evaluated at to score it on a signal, sampled where that is larger than `WHOLE`."""
    if len(signal) <= WHOLE:
        return len(signal)
    return SAMPLES + (TILES * (SIDE + 2 * REACH) ** 2 if _has_structure(signal) else 0)


def estimated_scores(
    field: Evaluate, signal: GridSignal, measures: Measures, seen: Tensor | None = None, *, between: bool = False
) -> Scores:
    """The scores of a field on a grid from `SAMPLES` of its samples, and SSIM from `TILES` squares.

    measures: of a prediction and its target. seen: which samples were, (N,) of bool; none: all. between: score the
    pixels at odd rows and columns apart.
    """
    index = spread_index(len(signal), min(SAMPLES, len(signal)))
    prediction, target = sample_points(field, signal.coords(index)), signal.values(index)
    mask = torch.ones(len(index), dtype=torch.bool) if seen is None else seen[index]
    metrics, heldout = measures(prediction[mask][None], target[mask][None]), None
    errors = {"psnr": psnr_error(prediction[mask], target[mask])}
    if seen is not None:
        heldout = measures(prediction[~mask][None], target[~mask][None])
        if between:
            odd = (index // signal.shape[1] % 2 == 1) & (index % signal.shape[1] % 2 == 1)
            heldout["psnr_between"] = psnr_of(float(_squares(prediction[odd], target[odd]).mean()))
    if _has_structure(signal):
        similar = tile_similarity(field, signal)
        metrics["ssim"] = float(similar.mean())
        errors["ssim"] = float(similar.std()) / math.sqrt(len(similar))
    return Scores(metrics, heldout, estimate=Estimate(len(index), len(signal), errors))


def psnr_error(prediction: Tensor, target: Tensor) -> float:
    """The standard error in dB of a PSNR estimated from samples (n, c): 10/ln 10 ⋅ s/(m √n), m and s of the squares.

    >>> psnr_error(torch.zeros(4, 1), torch.full((4, 1), 0.5))
    0.0
    """
    squares = _squares(prediction, target)
    mean, spread = float(squares.mean()), float(squares.std())
    return 10 / math.log(10) * spread / (mean * math.sqrt(len(squares))) if mean > 0 else 0.0


def tile_similarity(field: Evaluate, signal: GridSignal) -> Tensor:
    """The mean SSIM (TILES,) of squares spread over a picture, the frames of a video or the views of a light field."""
    *frames, height, width = signal.shape
    corners = spread_index(math.prod(signal.shape), TILES, seed=1)
    tall, wide = min(SIDE, height), min(SIDE, width)
    boxes = []
    for corner in corners.tolist():
        frame, rest = divmod(corner, height * width)
        top, left = min(rest // width, height - tall), min(rest % width, width - wide)
        rows = max(0, top - REACH), min(height, top + tall + REACH)
        columns = max(0, left - REACH), min(width, left + wide + REACH)
        boxes.append((frame if frames else 0, top, left, rows, columns))
    grids = [
        ((frame * height + torch.arange(*rows))[:, None] * width + torch.arange(*columns)).reshape(-1)
        for frame, _, _, rows, columns in boxes
    ]
    index = torch.cat(grids)
    sizes = [len(grid) for grid in grids]
    predictions = torch.split(sample_points(field, signal.coords(index)), sizes)
    targets = torch.split(signal.values(index), sizes)
    means = []
    for (_, top, left, rows, columns), prediction, target in zip(boxes, predictions, targets, strict=True):
        shape = rows[1] - rows[0], columns[1] - columns[0], signal.out_dim
        here = {"first": rows[0], "height": height}
        similar = ssim_map(prediction.view(shape), target.view(shape), top, top + tall, **here)
        means.append(similar[:, left - columns[0] : left - columns[0] + wide].mean())
    return torch.stack(means)


def _has_structure(signal: GridSignal) -> bool:
    return signal.in_dim == 2 or signal.kind in ("video", "lightfield")


def _squares(prediction: Tensor, target: Tensor) -> Tensor:
    """The squared error of every sample (n,), values clipped to [0, 1], mean over the channels."""
    return (prediction.double().clamp(0, 1) - target.double().clamp(0, 1)).square().mean(-1)
