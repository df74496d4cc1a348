"""Four scans, a minute of two cores for every method: Chamfer above its floor, IoU, normals, Hausdorff.

The time is 120 seconds of one core, counted as processor time, which is fair when the machine is shared. Measuring the
distances of the samples counts for closed meshes; for open ones a process of its own does it, which is not counted. A
surface is scored as users get it, without stray bodies, and as the field draws it, with them.
"""

from __future__ import annotations

from typing import Any

from alfilter.experiments.fitting import fit_line
from alfilter.experiments.paper.shapes import RESOLUTION, SHAPES, fit_shape
from alfilter.experiments.study import Lines, Run, Study, table

GRIDS, NETWORKS = ("al-grid", "hash-grid"), ("al-sine", "siren", "pe-mlp")
BUDGET = 120.0  # seconds of one core, per fit
_OF_A_SURFACE = ("chamfer", "iou", "normals", "hausdorff")


def runs() -> list[Run]:
    """Every method on every scan: the grids first, then the networks; the methods of each take turns."""
    training = {"budget": BUDGET, "clock": "cpu"}
    return [
        Run(method, path, method=method, preset="default-shape", training=training)
        for methods in (GRIDS, NETWORKS)
        for path in SHAPES.values()
        for method in methods
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit one scan and score its surface without stray bodies and, where there are any, with them (`raw`)."""
    from alfilter.errors import UserError
    from alfilter.evaluate import surface_of
    from alfilter.geometry.strays import without_strays
    from alfilter.tasks import SdfTask

    fitted = fit_shape(run, data)
    task = fitted.task
    assert isinstance(task, SdfTask)
    try:
        drawn = surface_of(fitted.field, run.size or RESOLUTION)
    except UserError:  # the field has no surface
        return {**fit_line(run, fitted), "metrics": task.compare(fitted.field, None).metrics, "heldout": None}
    kept = without_strays(drawn, task.clearance)
    metrics = task.compare(fitted.field, kept).metrics
    raw = task.compare(fitted.field, drawn).metrics if kept.strays else metrics
    metrics |= {"strays": kept.strays, **{f"raw_{name}": raw[name] for name in _OF_A_SURFACE if name in raw}}
    return {**fit_line(run, fitted), "metrics": metrics, "heldout": None}


def _above(metrics: dict[str, float], prefix: str = "") -> float:
    return 1e6 * (metrics[f"{prefix}chamfer"] - metrics["chamfer_floor"])


COLUMNS: dict[str, Any] = {
    "Chamfer above the floor, 1e-6": lambda line: _above(line["metrics"]),
    "IoU, %": lambda line: 100 * line["metrics"]["iou"],
    "normals, %": lambda line: 100 * line["metrics"]["normals"],
    "Hausdorff, 1e-3": lambda line: 1e3 * line["metrics"]["hausdorff"],
    "error near the surface, 1e-6": lambda line: 1e6 * line["metrics"]["sdf_near"],
    "stray bodies": lambda line: line["metrics"]["strays"],
    "Chamfer with them": lambda line: _above(line["metrics"], "raw_"),
    "Hausdorff with them": lambda line: 1e3 * line["metrics"]["raw_hausdorff"],
    "steps": lambda line: float(line["steps"]),
}


def summarise(lines: Lines) -> str:
    """The means over the scans, then every scan: a row per method."""
    drawn = [line for line in lines if "chamfer" in line["metrics"]]
    return "\n\n".join(["Means over the scans:", table(drawn, COLUMNS), "Every scan:", _every_scan(drawn)])


def _every_scan(lines: Lines) -> str:
    rows = [["scan", "method", *COLUMNS, "parameters"], ["---"] * (3 + len(COLUMNS))]
    for name, path in SHAPES.items():
        for line in (line for line in lines if line["image"] == path):
            values = [read(line) for read in COLUMNS.values()]
            cells = [f"{value:,.0f}" if value == int(value) else f"{value:.4g}" for value in values]
            rows.append([name, line["group"], *cells, f"{line['params']:,}"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


STUDY = Study("shapes-minute", runs, summarise, execute, needs=tuple(SHAPES.values()), threads=1)
