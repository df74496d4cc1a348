"""Four scans, equal time for every method: the paper's table of signed distance fields.

The time is 20 seconds of one core each, in `shapes-long` 300, counted as processor time: on a machine that is shared,
or slows down between two runs, that is the fair reading of equal time. Measuring the distances of the samples counts
for closed meshes; for open ones a process of its own does it, which is not counted.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alfilter.experiments.fitting import fit_line, fit_run
from alfilter.experiments.paper.printed import SHAPE_VALUES
from alfilter.experiments.study import Lines, Run, Study

if TYPE_CHECKING:
    from alfilter.runs.fitting import Fitted

SHAPES = {
    "Armadillo": "meshes/armadillo.obj",
    "Dragon": "meshes/dragon_xyzrgb.ply",
    "Lucy": "meshes/lucy.ply",
    "Thai": "meshes/thai_from_bacon.ply",
}
METHODS = ("pe-mlp", "siren", "bacon", "al-sine")
SHORT, LONG = 20.0, 300.0  # seconds on one core, per fit
HALF_TRAINING: dict[str, int] = {"steps": 10_000, "every": 50}  # a twentieth, over which the rates fall as printed
# the other of the two rates of `shapes-rates`, where a short fit and a long one, or two scans, do not agree on them
OTHER: dict[str, tuple[str, dict[str, float]]] = {
    "siren, rates times 2.5": ("siren", {"lr": 1.2e-3}),
    "al-sine, rates times 0.4": ("al-sine", {"lr": 1.84e-4, "lr_encoding": 5.2e-4}),
}
RESOLUTION, FULL_RESOLUTION = 256, 512  # of the surface that is scored, here and in the paper


def runs(budget: float = SHORT) -> list[Run]:
    """Every method on every shape, the methods interleaved, so that a busy hour hits all of them."""
    from alfilter.methods import METHODS as KNOWN

    methods = [name for name in METHODS if name in KNOWN]
    rows: dict[str, tuple[str, dict[str, float]]] = {**{name: (name, {}) for name in methods}, **OTHER}
    return [
        Run(group, path, method=name, preset="default", training={"budget": budget, "clock": "cpu", **rates})
        for path in SHAPES.values()
        for group, (name, rates) in rows.items()
    ]


def full_runs(paths: tuple[str, ...]) -> list[Run]:
    """The paper's protocol for shapes: 200,000 steps of 10,000 points, 8 hidden layers."""
    return [Run(name, path, method=name, preset="paper", size=FULL_RESOLUTION) for path in paths for name in METHODS]


def half_runs(paths: tuple[str, ...]) -> list[Run]:
    """The paper's networks, points and surfaces with a twentieth of its steps, over which the rates fall as printed."""
    return [replace(run, training=HALF_TRAINING) for run in full_runs(paths)]


def fit_shape(run: Run, data: str) -> Fitted:
    """A run's field, fitted to a scan."""
    from alfilter.tasks.open import open_task

    return fit_run(run, open_task(str(Path(data) / run.image), seed=run.seed))


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit one shape and score its surface."""
    from alfilter.tasks import SdfTask

    fitted = fit_shape(run, data)
    assert isinstance(fitted.task, SdfTask)
    scores = fitted.task.evaluate(fitted.field, run.size or RESOLUTION)
    return {**fit_line(run, fitted), "metrics": scores.metrics, "heldout": None}


def summarise(lines: Lines) -> str:
    """Chamfer above its floor and IoU of every shape and method; of the paper's networks ours (the paper's)."""
    fair = any(line.get("preset") == "paper" for line in lines)
    chamfer, iou = (" (printed in the paper, floor included)", " (printed in the paper)") if fair else ("", "")
    parts = [f"Chamfer: squared, summed, 300k points, box of side 1, in 1e-6, the floor taken off.{chamfer}"]
    parts += _table(lines, lambda m: 1e6 * (m["chamfer"] - m["chamfer_floor"]), 0, 1e6, 2, fair)
    floors = ", ".join(f"{name} {_floor(lines, path):.2f}" for name, path in SHAPES.items())
    grid = f"IoU on 256 points along the longest side, in the paper unstated.{iou}"
    parts += ["", f"Floors in 1e-6: {floors}.", "", grid]
    parts += _table(lines, lambda m: m["iou"], 1, 1.0, 4, fair)
    parts += [
        "",
        "The Thai statue is a stand-in extracted from BACON's published network; it favours band-limited methods.",
    ]
    return "\n".join(parts)


def _table(lines: Lines, read: Any, column: int, unit: float, digits: int, fair: bool) -> list[str]:
    """One row per method; fair: with the paper's values, which belong to its networks and steps."""
    rows = ["| method | " + " | ".join([*SHAPES, "mean"]) + " |", "|" + "---|" * (len(SHAPES) + 2)]
    for group in (*METHODS, *OTHER):
        values = [_value(lines, group, path, read) for path in SHAPES.values()]
        known = [value for value in values if value is not None]
        if not known:
            continue
        cells = ["–" if value is None else f"{value:.{digits}f}" for value in values]
        cells.append(f"{statistics.fmean(known):.{digits}f}")
        if fair and group in SHAPE_VALUES:
            printed = [unit * value for value in SHAPE_VALUES[group][column]]
            beside = [f"{value:.3g}" for value in (*printed, statistics.fmean(printed))]
            cells = [f"{ours} ({theirs})" for ours, theirs in zip(cells, beside, strict=True)]
        rows.append("| " + " | ".join([group, *cells]) + " |")
    return rows


def _value(lines: Lines, group: str, path: str, read: Any) -> float | None:
    scores = [line["metrics"] for line in lines if line["group"] == group and line["image"] == path]
    return float(read(scores[-1])) if scores and "chamfer" in scores[-1] else None


def _floor(lines: Lines, path: str) -> float:
    values = [line["metrics"].get("chamfer_floor") for line in lines if line["image"] == path]
    known = [1e6 * value for value in values if value is not None]
    return statistics.fmean(known) if known else float("nan")


SHRINKS = (
    "shrinks 200,000 steps of a network of 8×256 to 20 core seconds of the methods' default presets, and 512³ to 256³; "
    "the meshes have 100,000 faces; the Thai statue is a stand-in"
)
STUDY = Study(
    "shapes", runs, summarise, execute, full=full_runs, half=half_runs, needs=tuple(SHAPES.values()), shrinks=SHRINKS
)
LONG_STUDY = Study("shapes-long", lambda: runs(LONG), summarise, execute)
