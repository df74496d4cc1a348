"""A minute of two cores for every method on every scan, and the tables of it."""

from __future__ import annotations

from alfilter.experiments import STUDIES
from alfilter.experiments.compare.shapes import GRIDS, NETWORKS, runs
from alfilter.experiments.fitting import check_run
from alfilter.experiments.paper.shapes import SHAPES


def test_equal_time_for_every_method_on_every_scan() -> None:
    declared = runs()
    assert {(run.method, run.image) for run in declared} == {
        (method, path) for method in (*GRIDS, *NETWORKS) for path in SHAPES.values()
    }
    assert len(declared) == 20
    assert {(run.training["budget"], run.training["clock"]) for run in declared} == {(120.0, "cpu")}
    for run in declared:
        check_run(run)


def test_means_and_every_scan() -> None:
    scores = {"chamfer": 3e-6, "chamfer_floor": 2.85e-6, "iou": 0.9812, "normals": 0.95, "hausdorff": 0.004}
    first = {"group": "al-grid", "image": SHAPES["Lucy"], "metrics": scores, "steps": 900}
    second = {**first, "image": SHAPES["Thai"], "metrics": {**scores, "normals": 0.97}}
    lost = {**first, "group": "siren", "metrics": {"iou": 0.0}}  # no surface: no row
    text = STUDIES["shapes-minute"].summarise([first, second, lost])
    assert "| al-grid | 2 | 0.15 ± 0.00 | 98.12 ± 0.00 | 96.00 ± 1.41 | 4.00 ± 0.00 | 900.00 ± 0.00 |" in text
    assert "Lucy:\n\n" in text
    assert "Dragon" not in text
    assert "siren" not in text
