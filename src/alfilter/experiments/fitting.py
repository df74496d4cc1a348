"""A run of a study through the one way to fit, and what its result line says of every fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from alfilter.experiments.data import crop, reduced
from alfilter.experiments.study import Run
from alfilter.experiments.unfinished import fit_resumably

if TYPE_CHECKING:
    from alfilter.runs.fitting import Fitted, PreparedFit
    from alfilter.tasks import ImageTask
    from alfilter.tasks.base import Task


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Carry out one run and return its result line: what a study does that has no `execute` of its own."""
    fitted = fit_run(run, cropped_task(run, data))
    scores = fitted.task.evaluate(fitted.field)
    curve = [[line["step"], round(line["psnr"], 3)] for line in fitted.result.history]
    return {
        **fit_line(run, fitted),
        "metrics": scores.metrics,
        "heldout": scores.heldout,
        "curve": thinned(curve),
    }


def thinned(curve: list[list[float]], few: int = 60) -> list[list[float]]:
    """Evenly spread points of a curve, at least `few` where it has as many, and its end.

    >>> thinned([[step, 0.0] for step in (1, 2, 3, 4, 5, 6)], few=2)
    [[1, 0.0], [4, 0.0], [6, 0.0]]
    """
    stride = max(1, len(curve) // few)
    return curve[::stride] + (curve[-1:] if (len(curve) - 1) % stride else [])


def check_run(run: Run) -> None:
    """Raise what `execute` would raise for a method, preset, option or setting that does not exist."""
    from alfilter.config import configure
    from alfilter.methods import method, preset, training

    options, _ = _sizing(run)
    configure(method(run.method).options, {**preset(run.method, run.preset).options, **options}, run.method)
    training(run.method, run.preset, **run.training)


def cropped_task(run: Run, data: str) -> ImageTask:
    """A run's picture, or the square in its middle, seen as the run says."""
    from alfilter.tasks import ImageTask

    return ImageTask(crop(Path(data) / run.image, run.size), run.observe, run.seed)


def reduced_task(run: Run, data: str) -> ImageTask:
    """A run's picture, all of it reduced to the run's size, or of `NAME#crop` the square in its middle."""
    from alfilter.signals import read_image
    from alfilter.tasks import ImageTask

    file, _, how = run.image.partition("#")
    if how == "crop":
        return ImageTask(crop(Path(data) / file, run.size), run.observe, run.seed)
    picture = read_image(Path(data) / file)
    return ImageTask(picture if run.size is None else reduced(picture, run.size), run.observe, run.seed)


def prepare_run(run: Run, task: Task) -> PreparedFit:
    """A run's field, built for a task and not yet trained; `params` among the settings sizes the method."""
    from alfilter.runs import resolve
    from alfilter.runs.fitting import prepare

    options, params = _sizing(run)
    setting = resolve(task, run.method, preset=run.preset, options=options, params=params, training=run.training)
    return prepare(task, setting, seed=run.seed)


def fit_run(run: Run, task: Task) -> Fitted:
    """A run's field, fitted to a task; in a study that was stopped, from where it stood."""
    return fit_resumably(run, prepare_run(run, task))


def fit_line(run: Run, fitted: Fitted) -> dict[str, Any]:
    """What a result line says of every fit."""
    from alfilter.methods import parameter_count

    result, options = fitted.result, fitted.field.spec.get("options", {})
    facts = {"steps": result.steps, "seconds": result.seconds, "params": parameter_count(fitted.field)}
    return {**run.heading, **facts, "options": {name: value for name, value in options.items() if value is not None}}


def _sizing(run: Run) -> tuple[dict[str, Any], int | None]:
    """The options among a run's settings, and the number of parameters to size the method to."""
    options = dict(run.settings)
    params = options.pop("params", None)
    return options, params
