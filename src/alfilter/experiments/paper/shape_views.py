"""The paper's figure of the Armadillo: a smooth and a detailed part of what each method makes of it.

At full scale: 200,000 steps of 10,000 points, 8 hidden layers, the surface at 512³. At half scale a twentieth of the
steps, over which the rates fall as they do in all of them. The CPU twin keeps the shape and
the methods' default presets, and gives every method the same seconds of a core; the surface is taken at 192³.
What the paper says about its zoomed regions is measured on the whole shape: agreement of normals on the half of the
surface that bends least, and on the tenth that bends most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from alfilter.errors import UserError
from alfilter.experiments.artifacts import png
from alfilter.experiments.fitting import fit_line
from alfilter.experiments.paper.shapes import HALF_TRAINING, METHODS, SHAPES, fit_shape
from alfilter.experiments.study import Lines, Run, Study, table

SHAPE = "Armadillo"
SECONDS = 30.0
SIZE = 240  # pixels per side
SPLATS = 1_000_000
# where `splat` looks: the whole, the smooth chest, the detailed leg
VIEWS: dict[str, dict[str, Any]] = {
    "whole": {"reach": 1.05},
    "chest": {"centre": (0.05, 0.25), "reach": 0.33, "point_size": 3},
    "leg": {"centre": (-0.32, -0.55), "reach": 0.33, "point_size": 3},
}


def runs() -> list[Run]:
    """The CPU twin: every method the same time on one core."""
    return [
        Run(name, SHAPES[SHAPE], method=name, preset="default", size=192, training={"budget": SECONDS, "clock": "cpu"})
        for name in METHODS
    ]


def full_runs(images: tuple[str, ...] = ()) -> list[Run]:
    """The paper's protocol on the Armadillo; the pictures of the other studies do not matter here."""
    return [Run(name, SHAPES[SHAPE], method=name, preset="paper", size=512) for name in METHODS]


def half_runs(images: tuple[str, ...] = ()) -> list[Run]:
    """The paper's networks, points and surface with a twentieth of its steps."""
    return [replace(run, training=HALF_TRAINING) for run in full_runs(images)]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit the shape, score its surface, and look at it."""
    from alfilter.geometry.repair import Triangles
    from alfilter.tasks import SdfTask

    fitted = fit_shape(run, data)
    task, field = fitted.task, fitted.field
    assert isinstance(task, SdfTask)
    reference = task.signal.triangles
    assert reference is not None
    try:
        surface = task.extract(field, run.size or 192)
    except UserError:  # the field has no surface yet: its scores say so
        surface = None
    metrics = dict(task.compare(field, surface, points=100_000, grid=96).metrics)
    pictures = {f"reference_{name}": png(look) for name, look in _looks(reference).items()}
    if surface is not None:
        ours = Triangles(surface.vertices, surface.faces)
        metrics |= agreement(ours, reference)
        pictures |= {f"render_{name}": png(look) for name, look in _looks(ours).items()}
    return {**fit_line(run, fitted), "metrics": metrics, "heldout": None, "pictures": pictures}


def _looks(mesh: Any) -> dict[str, Any]:
    from alfilter.geometry.splat import splat
    from alfilter.metrics.shape import surface_samples

    points, normals = surface_samples(mesh, SPLATS, np.random.default_rng(0))
    return {name: splat(points, normals, SIZE, **view) for name, view in VIEWS.items()}


def agreement(surface: Any, reference: Any, count: int = 40_000) -> dict[str, float]:
    """Mean |n·n'| of nearest points on the half of the reference that bends least and on the tenth that bends most.

    How much a place bends: one minus the length of the mean of the normals of its 16 nearest samples.
    """
    from alfilter.geometry.distance import nearest_points
    from alfilter.metrics.shape import nearest, surface_samples

    rng = np.random.default_rng(0)
    theirs, their_normals = surface_samples(reference, count, rng)
    ours, our_normals = surface_samples(surface, count, rng)
    _, index = nearest(theirs, ours)
    agree = np.abs((their_normals * our_normals[index]).sum(axis=1))
    _, around = nearest_points(theirs, theirs, 16)
    bend = 1 - np.linalg.norm(their_normals[around].mean(axis=1), axis=1)
    return {
        "normals_smooth": float(agree[bend <= np.quantile(bend, 0.5)].mean()),
        "normals_detail": float(agree[bend >= np.quantile(bend, 0.9)].mean()),
    }


def summarise(lines: Lines) -> str:
    """Where the surface is right."""
    return table(
        lines,
        {
            "normals, smooth half, %": lambda line: _percent(line, "normals_smooth"),
            "normals, detailed tenth, %": lambda line: _percent(line, "normals_detail"),
            "IoU, %": lambda line: _percent(line, "iou"),
            "steps": lambda line: float(line["steps"]),
        },
    )


def _percent(line: dict[str, Any], name: str) -> float | None:
    value = line["metrics"].get(name)
    return None if value is None else 100 * value


SHRINKS = (
    "shrinks 200,000 steps of a network of 8×256 to 30 core seconds of the methods' default presets, and 512³ to 192³"
)
STUDY = Study(
    "shape-views", runs, summarise, execute, full=full_runs, half=half_runs, needs=(SHAPES[SHAPE],), shrinks=SHRINKS
)
