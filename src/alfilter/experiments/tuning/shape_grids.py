"""Settings of the two grids for shapes: a few choices, the same for both, on the carved bunny, which is in no table."""

from __future__ import annotations

from typing import Any

from alfilter.experiments.fitting import fit_line, fit_run
from alfilter.experiments.study import Lines, Run, Study, table
from alfilter.experiments.tuning.shapes import CARVED, carved_task

METHODS = ("al-grid", "hash-grid")
BUDGET = 20.0  # seconds on one core, per fit
RESOLUTION, POINTS, GRID = 256, 100_000, 192  # of the surface and the scores
# batch, log2 of the rows of a level, cells per axis of the finest level
SETTINGS: tuple[tuple[int, int, int], ...] = (
    (4096, 15, 256),
    (8192, 15, 256),
    (8192, 17, 256),
    (8192, 17, 128),
)


def runs() -> list[Run]:
    """Every choice for both grids; the methods take turns, so that a busy hour hits both."""
    return [
        Run(
            f"{method}: batch {batch:,}, {1 << table:,} rows, finest {finest}",
            CARVED,
            method=method,
            preset="default-shape",
            settings={"table": table, "finest": finest},
            training={"budget": BUDGET, "clock": "cpu", "batch": batch},
        )
        for batch, table, finest in SETTINGS
        for method in METHODS
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """One fit and its scores."""
    task = carved_task(run, data)
    fitted = fit_run(run, task)
    surface = task.extract(fitted.field, RESOLUTION)
    metrics = task.compare(fitted.field, surface, points=POINTS, grid=GRID).metrics
    return {**fit_line(run, fitted), "metrics": metrics, "heldout": None}


def summarise(lines: Lines) -> str:
    """What the surface and the distance near it are like after equal time."""
    return table(
        lines,
        {
            "IoU, %": lambda line: 100 * line["metrics"]["iou"],
            "normals, %": lambda line: 100 * line["metrics"]["normals"],
            "error near the surface, 1e-3": lambda line: 1e3 * line["metrics"]["sdf_near"],
            "steps": lambda line: float(line["steps"]),
        },
    )


STUDY = Study("shapes-grids", runs, summarise, execute)
