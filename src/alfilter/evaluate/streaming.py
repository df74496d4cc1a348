"""Scores and views of a grid too large to be held: a band of rows at a time, with the numbers of the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from alfilter.evaluate.estimated import WHOLE
from alfilter.evaluate.sampling import axis_coords, sample_axes
from alfilter.evaluate.scores import Evaluate, Scores
from alfilter.metrics.image import REACH, STRIP, psnr_of, ssim, ssim_strip
from alfilter.runtime.thread_pool import parallel_map
from alfilter.signals import LARGE, GridSignal

_BAND = 1 << 20  # samples evaluated at once
_DRAWN = 1 << 18  # pixels of a reduced picture


def is_large(shape: tuple[int, ...]) -> bool:
    """Whether a grid is a picture that is scored in bands.

    >>> is_large((8192, 8192)), is_large((512, 512))
    (True, False)
    """
    return len(shape) == 2 and math.prod(shape) > LARGE


def bands(field: Evaluate, axes: Sequence[Tensor], rows: int | None = None) -> Iterator[tuple[int, Tensor]]:
    """A field's values on a grid, band by band of its first axis: (first row, (rows, ..., c)).

    The values are those of `sample_axes` over the whole.
    """
    down, across = axes[0], axes[1:]
    size = max(1, _BAND // math.prod(len(axis) for axis in across)) if rows is None else rows
    for start in range(0, len(down), size):
        yield start, sample_axes(field, [down[start : start + size], *across])


def streamed_scores(
    field: Evaluate, signal: GridSignal, seen: Tensor | None = None, *, between: bool = False, band: int | None = None
) -> Scores:
    """The scores of a field on a grid without holding either: PSNR (seen, held out), and SSIM of pictures.

    seen: which samples were, (*shape,) of bool; none: all. between: score the pixels at odd rows and columns apart.

    Squared errors are summed in float64 band by band; SSIM's strips are those of the whole, a few rows of each band
    being kept for the next. Of a video it is the mean over the frames, of a light field over the views; a volume has
    none. band: rows per band, for a picture a multiple of SSIM's strip.
    """
    shape = signal.shape
    row, picture = math.prod(shape[1:]), len(shape) == 2
    rows = band or (max(STRIP, _BAND // row // STRIP * STRIP) if picture else max(1, _BAND // row))
    sums = {name: torch.zeros(2, dtype=torch.float64) for name in ("seen", "heldout", "between")}  # error, numbers
    similar, structure = 0.0, _structure(signal)
    for start, prediction in bands(field, [axis_coords(n, 0, n - 1, n) for n in shape], rows):
        target = signal.values(torch.arange(start * row, (start + len(prediction)) * row))
        target = target.view_as(prediction)
        error = (prediction.double().clamp_(0, 1) - target.double().clamp_(0, 1)).square_()
        mask = None if seen is None else seen[start : start + len(prediction)]
        _add(sums["seen"], error if mask is None else error[mask])
        if mask is not None:
            _add(sums["heldout"], error[~mask])
        if between:
            _add(sums["between"], error[(1 - start % 2) :: 2, 1::2])
        similar += structure(start, prediction, target) if structure else 0.0
    metrics = {"psnr": _psnr(sums["seen"])}
    if structure:
        metrics["ssim"] = similar / (len(signal) * signal.out_dim)
    if seen is None:
        return Scores(metrics, None)
    heldout = {"psnr": _psnr(sums["heldout"])}
    return Scores(metrics, {**heldout, "psnr_between": _psnr(sums["between"])} if between else heldout)


def _structure(signal: GridSignal) -> Callable[[int, Tensor, Tensor], float] | None:
    """Sums up the similarity, called with one band after the other: of a picture, or of every frame of a video."""
    if signal.in_dim == 2:
        return _Window(signal).add
    return _frames if signal.kind in ("video", "lightfield") else None


def _frames(start: int, prediction: Tensor, target: Tensor) -> float:
    """The sum of the similarity over whole frames (n, H, W, c), or over views (n, m, H, W, c)."""
    pairs = list(zip(*(values.flatten(0, -4) for values in (prediction, target)), strict=True))
    return float(sum(parallel_map(lambda pair: ssim(*pair) * pair[0].numel(), pairs)))


class _Window:
    """The rows that SSIM still needs: a strip is computed once the rows it looks at are there."""

    def __init__(self, signal: GridSignal) -> None:
        self.height, self.first, self.next = signal.shape[0], 0, 0
        empty = torch.empty(0, signal.shape[1], signal.out_dim)
        self.prediction, self.target = empty, empty

    def add(self, start: int, prediction: Tensor, target: Tensor) -> float:
        """Take the rows from `start` on; the sum of the similarity over the strips that are complete now."""
        assert start == self.first + len(self.prediction)
        self.prediction = torch.cat((self.prediction, prediction))
        self.target = torch.cat((self.target, target))
        known = start + len(prediction)
        strips: list[tuple[int, int]] = []
        while self.next < self.height:
            stop = min(self.next + STRIP, self.height)
            if min(stop + REACH, self.height) > known:
                break
            strips.append((self.next, stop))
            self.next = stop
        here = {"first": self.first, "height": self.height}
        total = sum(parallel_map(lambda s: ssim_strip(self.prediction, self.target, *s, **here), strips))
        gone = max(0, self.next - REACH - self.first)
        self.prediction, self.target = self.prediction[gone:].clone(), self.target[gone:].clone()
        self.first += gone
        return total


def picture_step(shape: tuple[int, ...]) -> int:
    """Every how many-th row and column of a picture is drawn: all of them up to `WHOLE` pixels.

    >>> picture_step((8192, 8192)), picture_step((512, 512))
    (16, 1)
    """
    pixels = math.prod(shape)
    return math.ceil(math.sqrt(pixels / _DRAWN)) if len(shape) == 2 and pixels > WHOLE else 1


def reduced(field: Evaluate, signal: GridSignal) -> tuple[Tensor, Tensor]:
    """Prediction and target (h, w, c) on every `picture_step`-th row and column."""
    height, width = signal.shape
    step = picture_step((height, width))
    axes = [axis_coords(n, 0, n - 1, n)[::step] for n in (height, width)]
    index = (torch.arange(0, height, step)[:, None] * width + torch.arange(0, width, step)).reshape(-1)
    prediction = sample_axes(field, axes)
    return prediction, signal.values(index).view_as(prediction)


def excerpt(shape: tuple[int, ...]) -> slice:
    """The samples of a sound that are drawn: all of them up to `WHOLE`, else those in the middle.

    >>> excerpt((1000,)), excerpt((1 << 22,))
    (slice(0, 1000, None), slice(1966080, 2228224, None))
    """
    samples = shape[0]
    size = samples if samples <= WHOLE else _DRAWN
    return slice((samples - size) // 2, (samples - size) // 2 + size)


def middle(field: Evaluate, signal: GridSignal, size: int = 384) -> tuple[Tensor, Tensor]:
    """Prediction and target (*sizes, c) of the middle, at most `size` samples along each axis, at full resolution."""
    shape = signal.shape
    cuts = [slice((n - min(n, size)) // 2, (n - min(n, size)) // 2 + min(n, size)) for n in shape]
    axes = [axis_coords(n, 0, n - 1, n)[cut] for n, cut in zip(shape, cuts, strict=True)]
    index = torch.zeros((), dtype=torch.int64)
    for n, cut in zip(shape, cuts, strict=True):
        index = index[..., None] * n + torch.arange(cut.start, cut.stop)
    prediction = sample_axes(field, axes)
    return prediction, signal.values(index.reshape(-1)).view_as(prediction)


def _add(sums: Tensor, error: Tensor) -> None:
    sums += torch.tensor([float(error.sum()), error.numel()], dtype=torch.float64)


def _psnr(sums: Tensor) -> float:
    return psnr_of(float(sums[0] / sums[1]))
