"""What a finished run shows beside its scores: its pictures, by the kind of its signal, and its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from alfilter.evaluate import Scores
from alfilter.evaluate.streaming import middle, reduced
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.runs.fitting import Fitted
from alfilter.runs.folder import RunFolder
from alfilter.runtime.stages import PICTURES, advance, stage
from alfilter.tasks import GridTask

Draw = Callable[[RunFolder, Field, Any, Scores], None]

# kind of the signal: the function (folder, field, task, scores) that draws its pictures
PICTURES_OF = {
    "image": "alfilter.report.artifacts:draw_picture",
    "audio": "alfilter.report.figures.audio:draw_audio",
    "volume": "alfilter.report.figures.volume:draw_volume",
    "video": "alfilter.report.figures.volume:draw_volume",
    "lightfield": "alfilter.report.figures.volume:draw_volume",
    "shape": "alfilter.report.figures.shape:draw_shape",
    "points": "alfilter.report.figures.points:draw_points",
}


# kind of the signal: how many figures are drawn beside those of α and of the training
_FIGURES = {"image": 2, "audio": 2, "volume": 3, "video": 3, "lightfield": 3, "shape": 2, "points": 2}


def finish_run(folder: RunFolder, fitted: Fitted, scores: Scores) -> None:
    """Write the pictures of a fit that has just ended, and the report over all that the folder holds."""
    from alfilter.analysis import filtered_encoding_of
    from alfilter.report.page.run import write_report

    of_alpha = 0 if filtered_encoding_of(fitted.field) is None else 2
    figures = _FIGURES.get(str(fitted.task.describe()["kind"]), 0) + of_alpha + 1
    with stage("drawing", figures + 1, PICTURES):
        draw(folder, fitted.field, fitted.task, scores, folder.read_history())
        write_report(folder.path)
        advance(figures + 1, PICTURES)  # whatever could not be drawn


def draw(folder: RunFolder, field: Field, task: Any, scores: Scores, history: Sequence[dict[str, Any]]) -> None:
    """The pictures of a fitted field; those of a kind that has none of its own are the curve of its training alone."""
    from alfilter.report.figures import run as figures

    drawing = PICTURES_OF.get(str(task.describe()["kind"]))
    if drawing is not None:
        module, _, name = drawing.partition(":")  # imported when needed: a kind draws with libraries of its own
        draw_kind: Draw = getattr(import_module(module), name)
        draw_kind(folder, field, task, scores)
    write_bytes(folder.picture("convergence"), figures.convergence_figure(history))


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
    from alfilter.analysis import filtered_encoding_of, frequency_map, response_maps, samples_across
    from alfilter.report.figures import frequency
    from alfilter.report.figures import run as figures
    from alfilter.report.figures.arrays import error_map
    from alfilter.report.figures.sparse import sparse_picture
    from alfilter.signals import write_image

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
