"""Four scans, a minute of two cores for every method: Chamfer above its floor, IoU, normals, Hausdorff.

The time is 120 seconds of one core, counted as processor time, which is fair when the machine is shared. Measuring the
distances of the samples counts for closed meshes; for open ones a process of its own does it, which is not counted. A
surface is scored as users get it, without stray bodies, and as the field draws it, with them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
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


def _metric(name: str, unit: float = 1.0, above: str | None = None) -> Callable[[dict[str, Any]], float | None]:
    """Reads a metric in a unit, and above another one; None from a line that lacks it, such as an older one."""

    def read(line: dict[str, Any]) -> float | None:
        value, floor = line["metrics"].get(name), line["metrics"].get(above) if above else 0.0
        return None if value is None or floor is None else (value - floor) / unit

    return read


COLUMNS: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "Chamfer above the floor, 1e-6": _metric("chamfer", 1e-6, above="chamfer_floor"),
    "IoU, %": _metric("iou", 0.01),
    "normals, %": _metric("normals", 0.01),
    "Hausdorff, 1e-3": _metric("hausdorff", 1e-3),
    "error near the surface, 1e-6": _metric("sdf_near", 1e-6),
    "stray bodies": _metric("strays"),
    "Chamfer with them": _metric("raw_chamfer", 1e-6, above="chamfer_floor"),
    "Hausdorff with them": _metric("raw_hausdorff", 1e-3),
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
            cells = [_number(read(line)) for read in COLUMNS.values()]
            rows.append([name, line["group"], *cells, f"{line['params']:,}"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _number(value: float | None) -> str:
    """A count, a measure, or that there is none.

    >>> _number(1234.0), _number(0.15), _number(None), _number(float("nan"))
    ('1,234', '0.15', '–', '–')
    """
    if value is None or not isfinite(value):
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


STUDY = Study("shapes-minute", runs, summarise, execute, needs=tuple(SHAPES.values()), threads=1)
