"""The paper's figure of a picture with gaps: truth, what was seen, where it is wrong, and α."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, frequency_map, samples_across
from alfilter.methods import Field
from alfilter.metrics.image import psnr
from alfilter.report.figures import canvas
from alfilter.report.figures.arrays import error_map
from alfilter.report.figures.frequency import frequency_range, label_in_cycles
from alfilter.tasks import GridTask

Picture = NDArray[Any]


def sparse_figure(
    truth: Picture, prediction: Picture, seen: NDArray[np.bool_], cut_off: Picture | None, scores: dict[str, float]
) -> bytes:
    """Two rows: truth, masked input, masked error; reconstruction, error, cut-off (none: five panels).

    truth, prediction: (H, W, c) in [0, 1]. seen: (H, W). cut_off: (H', W') in cycles per pixel. scores: shown in the
    titles, `seen` and `unseen` in dB. Both errors share one scale, so that the gap between them is seen.
    """
    clipped = np.clip(prediction, 0, 1)
    error = error_map(clipped, truth)
    top = max(float(np.percentile(error, 99.5)), 1e-6)
    ratio = float(np.clip(truth.shape[0] / truth.shape[1], 0.4, 2.0))
    figure = canvas.new_figure(8.4, 2 * (2.6 * ratio + 0.35))
    panels = figure.subplots(2, 3).ravel()
    shown = np.where(seen[..., None], truth, 0.0)
    _picture(panels[0], truth, "truth")
    _picture(panels[1], shown, f"seen: {seen.mean():.1%} of the pixels")
    _map(panels[2], np.where(seen, error, np.nan), "magma", top, f"error where seen{_dB(scores, 'seen')}")
    _picture(panels[3], clipped, "reconstruction")
    image = _map(panels[4], error, "magma", top, f"error{_dB(scores, 'unseen', ' unseen')}")
    figure.colorbar(image, ax=panels[[2, 4]].tolist(), fraction=0.04, location="bottom", format=canvas.FROM_ZERO)
    if cut_off is None:
        panels[5].set_axis_off()
    else:
        low, high = frequency_range(cut_off)
        drawn = _map(panels[5], np.log2(cut_off.clip(low, high)), "viridis", None, "cut-off in cycles per pixel")
        label_in_cycles(figure.colorbar(drawn, ax=panels[5], fraction=0.045), low, high)
    return canvas.png_bytes(figure)


def sparse_picture(model: Field, task: GridTask, prediction: Picture, target: Picture) -> bytes:
    """`sparse_figure` of a fitted picture."""
    assert task.seen is not None
    flat = np.zeros(len(task.signal), bool)
    flat[task.seen.numpy()] = True
    seen = flat.reshape(task.signal.shape)
    encoding = filtered_encoding_of(model)
    drawn, across = tuple(min(n, 512) for n in task.signal.shape), samples_across(task.signal.shape)
    cut_off = None if encoding is None else frequency_map(encoding, drawn).numpy() / across
    left, right = torch.from_numpy(prediction), torch.from_numpy(target)
    masks = {"seen": torch.from_numpy(seen), "unseen": torch.from_numpy(~seen)}
    scores = {name: psnr(left[mask][None], right[mask][None]) for name, mask in masks.items()}
    return sparse_figure(target, prediction, seen, cut_off, scores)


def _dB(scores: dict[str, float], name: str, word: str = "") -> str:
    value = scores.get(name)
    return "" if value is None or not np.isfinite(value) else f", {value:.2f} dB{word}"


def _picture(axes: Any, values: Picture, title: str) -> None:
    colours = values[..., :3] if values.shape[-1] >= 3 else values[..., 0]
    axes.imshow(colours, cmap="gray", vmin=0, vmax=1)
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=9)


def _map(axes: Any, values: Picture, colours: str, top: float | None, title: str) -> Any:
    image = axes.imshow(values, cmap=colours, vmin=None if top is None else 0.0, vmax=top)
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=9)
    return image
