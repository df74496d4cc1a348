"""Scores of a fitted model against a signal, of whatever kind the model represents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from alfilter.errors import UserError
from alfilter.evaluate import Scores, surface_of
from alfilter.evaluate.streaming import is_large
from alfilter.geometry.frame import Frame
from alfilter.geometry.strays import Clearance
from alfilter.methods import Field
from alfilter.metrics.image import lpips
from alfilter.runtime.stages import stage
from alfilter.runtime.thread_pool import single_threaded_ops
from alfilter.signals import GridSignal, ShapeSignal, open_signal
from alfilter.signals.points import read_points
from alfilter.signals.tables import is_table
from alfilter.tasks import TASKS, GridTask, SdfTask
from alfilter.tasks.points import PointTask, point_scores, predict

_SURFACE = 256  # grid points per side of a surface that is scored


@single_threaded_ops()
def score_model(
    field: Field,
    spec: str,
    lpips_weights: str | None = None,
    observe: str | None = None,
    *,
    say: Callable[[str], None] = lambda line: None,
) -> Scores:
    """Metrics of a model on a signal: seen and held-out samples of its fit apart, where they can be told apart.

    spec: a file, or `sample:NAME`. lpips_weights: a file of LPIPS weights, the empty string for the one that the
    environment names, None for no LPIPS; only pictures have one. observe: which samples were seen; None takes it from
    the model, except for a mask, since no file that a model names is opened. say: called when the signal is not the
    fitted one.
    """
    kind = field.signal.get("kind")
    if kind in ("shape", "points") and observe is not None:
        raise UserError(f"observe is for samples on a grid, the model represents a {kind}; leave it out")
    if kind == "shape":
        return score_shape(field, spec)
    if kind == "points":
        return score_points(field, spec)
    task = _grid_task(field, spec, observe)
    if (note := difference(field, task, spec)) is not None:
        say(note)
    if lpips_weights is None:
        with stage("scoring", len(task.signal)):
            return task.evaluate(field)
    return _with_lpips(field, task, spec, lpips_weights)


def _grid_task(field: Field, spec: str, observe: str | None) -> GridTask:
    """The task of a picture, a sound, a volume or a video that a model can be scored on."""
    if is_table(spec):
        raise UserError(
            f"the model represents {field.signal.get('kind')}, {spec} is a table; give a signal of that kind"
        )
    signal = open_signal(spec)
    if not isinstance(signal, GridSignal) or (signal.in_dim, signal.out_dim) != (field.in_dim, field.out_dim):
        fitted, got = f"{field.in_dim}-D with {field.out_dim} channels", f"{signal.in_dim}-D with {signal.out_dim}"
        raise UserError(f"the model was fitted to a signal {fitted}, {spec} is {got}; give a signal of that kind")
    task = TASKS[signal.kind](signal, observe or fitted_split(field, signal), field.signal.get("observe_seed", 0))
    assert isinstance(task, GridTask)
    return task


def _with_lpips(field: Field, task: GridTask, spec: str, weights: str) -> Scores:
    signal = task.signal
    if signal.in_dim != 2:
        raise UserError(f"LPIPS compares pictures, {spec} holds {signal.kind}; leave it out")
    if is_large(signal.shape):
        size = f"{signal.shape[1]}x{signal.shape[0]}"
        raise UserError(f"LPIPS needs the whole picture at once, {size} is too large for that; leave it out")
    scores = task.evaluate(field)
    prediction, target = scores.samples
    return replace(scores, metrics={**scores.metrics, "lpips": lpips(prediction, target, weights or None)})


def fitted_split(field: Field, signal: GridSignal) -> str:
    """Which samples the fit saw, for a signal of the fitted size; `all` where that is not known without a file."""
    observe: str = field.signal.get("observe", "all")
    is_fitted_size = list(signal.shape) == field.signal.get("shape")
    return observe if is_fitted_size and not observe.startswith("mask:") else "all"


def difference(field: Field, task: GridTask, spec: str) -> str | None:
    """In which way a signal is not the one that a model was fitted to, in words; none where it is."""
    fitted = field.signal.get("shape")
    if isinstance(fitted, list) and fitted != list(task.signal.shape):
        sizes = ["x".join(map(str, reversed(shape))) for shape in (fitted, task.signal.shape)]
        return f"{spec} is {sizes[1]}, the model was fitted to {sizes[0]}: it is scored at the places of {spec}"
    if field.signal.get("sha256") not in (None, task.describe()["sha256"]):
        return f"{spec} is not the signal that the model was fitted to"
    return None


def score_points(field: Field, path: str) -> Scores:
    """Scores on a table with the model's columns; the fit's own table is split into seen and held-out points."""
    facts = field.signal
    signal = read_points(path, facts["coords"], facts["values"], facts.get("weight"), facts.get("noise"))
    task = PointTask(signal)
    if task.describe()["sha256"] == facts.get("sha256") and facts.get("observe", "all") != "all":
        task = PointTask(signal, facts["observe"], facts.get("observe_seed", 0))
    prediction, _ = predict(field, facts, signal.places)
    if task.seen is not None:
        return task.compare(prediction)
    span = np.array(facts["value_high"]) - np.array(facts["value_low"])  # the fit's range, also for another table
    return Scores(point_scores(prediction, signal.measured, span, facts["values"]), None)


def score_shape(field: Field, spec: str, resolution: int = _SURFACE) -> Scores:
    """Scores of a shape on a mesh or an oriented cloud, moved into the frame of the fitted one."""
    frame = Frame.read(field.signal.get("frame"))
    signal = open_signal(spec)
    if not isinstance(signal, ShapeSignal):
        raise UserError(f"the model is a shape, {spec} holds {signal.kind}; give a mesh")
    placed = ShapeSignal(
        np.ascontiguousarray(frame.into(signal.frame.back(signal.vertices))), frame,
        faces=signal.faces, normals=signal.normals, diagnosis=signal.diagnosis,
    )  # fmt: skip
    task = SdfTask(placed)
    own = Clearance.read(field.signal.get("clearance"))  # the surface is what `mesh` writes, whatever it is scored on
    surface = surface_of(field, resolution, own) if placed.faces is not None else None
    return task.compare(field, surface)
