"""Four scans, a minute of two cores for every method: Chamfer above its floor, IoU, normals, Hausdorff.

The time is 120 seconds of one core, counted as processor time, which is fair when the machine is shared; the
process that measures distances beside the training is not counted, for any method.
"""

from __future__ import annotations

from typing import Any

from alfilter.experiments.paper.shapes import SHAPES, execute
from alfilter.experiments.study import Lines, Run, Study, table

GRIDS, NETWORKS = ("al-grid", "hash-grid"), ("al-sine", "siren", "pe-mlp")
BUDGET = 120.0  # seconds of one core, per fit


def runs() -> list[Run]:
    """Every method on every scan: the grids first, then the networks; the methods of each take turns."""
    training = {"budget": BUDGET, "clock": "cpu"}
    return [
        Run(method, path, method=method, preset="default-shape", training=training)
        for methods in (GRIDS, NETWORKS)
        for path in SHAPES.values()
        for method in methods
    ]


COLUMNS: dict[str, Any] = {
    "Chamfer above the floor, 1e-6": lambda line: 1e6 * (line["metrics"]["chamfer"] - line["metrics"]["chamfer_floor"]),
    "IoU, %": lambda line: 100 * line["metrics"]["iou"],
    "normals, %": lambda line: 100 * line["metrics"]["normals"],
    "Hausdorff, 1e-3": lambda line: 1e3 * line["metrics"]["hausdorff"],
    "steps": lambda line: float(line["steps"]),
}


def summarise(lines: Lines) -> str:
    """The means over the scans, then every scan."""
    scored = [line for line in lines if "chamfer" in line["metrics"]]
    parts = ["Means over the scans:", "", table(scored, COLUMNS)]
    for name, path in SHAPES.items():
        here = [line for line in scored if line["image"] == path]
        parts += ["", f"{name}:", "", table(here, COLUMNS)] if here else []
    return "\n".join(parts)


STUDY = Study("shapes-minute", runs, summarise, execute, needs=tuple(SHAPES.values()))
