"""A fitted picture shown: truth, fit, error, spectrum, α; with gaps, the paper's figure of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, frequency_map, response_maps, samples_across
from alfilter.evaluate import Scores
from alfilter.evaluate.streaming import middle, reduced
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.metrics.image import psnr
from alfilter.report.figures import canvas, frequency
from alfilter.report.figures import run as figures
from alfilter.report.figures.arrays import error_map
from alfilter.report.figures.frequency import frequency_range, label_in_cycles
from alfilter.runs.folder import RunFolder
from alfilter.signals import write_image
from alfilter.tasks import GridTask

Picture = NDArray[Any]


def draw_picture(folder: RunFolder, field: Field, task: GridTask, scores: Scores) -> None:
    """The pictures of a fitted picture; of one that is too large to be drawn whole, reduced ones."""
    if scores.samples is not None:
        prediction, target = scores.samples
        write_pictures(folder, field, task, prediction.numpy(), target.numpy())
        return
    sharp = tuple(part.numpy() for part in middle(field, task.signal))  # a spectrum needs neighbours
    prediction, target = reduced(field, task.signal)
    write_pictures(folder, field, task, prediction.numpy(), target.numpy(), sharp)


def write_pictures(
    folder: RunFolder, model: Field, task: GridTask, prediction: Any, target: Any, sharp: tuple[Any, ...] | None = None
) -> None:
    """The pictures of a run: what was to be fitted, what came out, where it is wrong, what α became.

    sharp: prediction and target for the spectrum, when the pictures are a reduced view; those of single pixels are then
    left out.
    """
    bits = 16 if task.signal.bits > 8 else 8
    write_image(folder.picture("reference"), target, bits)
    write_image(folder.picture("reconstruction"), prediction, bits)
    if task.seen is not None and sharp is None:
        write_image(folder.picture("observed"), _observed(target, task.seen.numpy()))
        write_bytes(folder.picture("sparse"), sparse_picture(model, task, prediction, target))
    shape = tuple(min(n, 512) for n in task.signal.shape)
    clipped = np.clip(prediction, 0, 1)
    write_bytes(folder.picture("error"), figures.error_figure(error_map(clipped, target)))
    fitted, wanted = (clipped, target) if sharp is None else (np.clip(sharp[0], 0, 1), sharp[1])
    write_bytes(folder.picture("spectrum"), figures.spectrum_figure(wanted.mean(-1), fitted.mean(-1)))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        across, unit = samples_across(task.signal.shape), "cycles per pixel"
        cut_off = frequency_map(encoding, shape).numpy() / across
        write_bytes(folder.picture("alpha"), frequency.alpha_figure(cut_off, unit))
        of_scales = encoding.level_frequencies().numpy() / across
        panels = frequency.scale_response_figure(response_maps(encoding, shape).numpy(), of_scales, unit)
        write_bytes(folder.picture("scales"), panels)


def _observed(target: Any, seen: Any) -> Any:
    """The seen samples on black: (H, W, c)."""
    picture = np.zeros_like(target)
    flat = picture.reshape(-1, picture.shape[-1])
    flat[seen] = target.reshape(flat.shape)[seen]
    return picture


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
