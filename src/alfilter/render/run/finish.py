"""What a finished run shows beside its scores: its pictures, by the kind of its signal, and its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from alfilter.evaluate import Scores
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.runs.fitting import Fitted
from alfilter.runs.folder import RunFolder
from alfilter.runtime.stages import PICTURES, advance, stage

Draw = Callable[[RunFolder, Field, Any, Scores], None]

# kind of the signal: the function (folder, field, task, scores) that draws its pictures
PICTURES_OF = {
    "image": "alfilter.render.run.image:draw_picture",
    "audio": "alfilter.render.run.audio:draw_audio",
    "volume": "alfilter.render.run.volume:draw_volume",
    "video": "alfilter.render.run.volume:draw_volume",
    "lightfield": "alfilter.render.run.volume:draw_volume",
    "shape": "alfilter.render.run.shape:draw_shape",
    "points": "alfilter.render.run.points:draw_points",
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
