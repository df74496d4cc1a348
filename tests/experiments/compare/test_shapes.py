"""A minute of two cores for every method on every scan, and the tables of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from alfilter.experiments import STUDIES, Run
from alfilter.experiments.compare import shapes
from alfilter.experiments.compare.shapes import GRIDS, NETWORKS, runs
from alfilter.experiments.fitting import check_run
from alfilter.experiments.paper.shapes import SHAPES
from alfilter.tasks import SdfTask


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
    scores = {"chamfer": 3e-6, "chamfer_floor": 2.85e-6, "iou": 0.9812, "normals": 0.95, "hausdorff": 0.0041}
    raw = {"strays": 1, "raw_chamfer": 4e-6, "raw_hausdorff": 0.0591, "sdf_near": 7e-5}
    first = {"group": "al-grid", "image": SHAPES["Lucy"], "metrics": {**scores, **raw}, "steps": 900, "params": 12_345}
    second = {**first, "image": SHAPES["Thai"], "metrics": {**scores, **raw, "normals": 0.97}}
    lost = {**first, "group": "siren", "metrics": {"iou": 0.0}}  # no surface: no row
    text = STUDIES["shapes-minute"].summarise([first, second, lost])
    assert "| al-grid | 2 | 0.15 ± 0.00 | 98.12 ± 0.00 | 96.00 ± 1.41 | 4.10 ± 0.00 | 70.00 ± 0.00 | 1.00" in text
    assert "| Lucy | al-grid | 0.15 | 98.12 | 95 | 4.1 | 70 | 1 | 1.15 | 59.1 | 900 | 12,345 |" in text
    assert "Dragon" not in text
    assert "siren" not in text


def test_lines_from_before_stray_bodies_were_counted() -> None:
    """And a score that is not a number."""
    scores = {"chamfer": 3e-6, "chamfer_floor": 2.85e-6, "iou": 0.9812, "normals": float("nan"), "hausdorff": 0.0041}
    line = {"group": "al-grid", "image": SHAPES["Lucy"], "metrics": scores, "steps": 900, "params": 12_345}
    text = STUDIES["shapes-minute"].summarise([line])
    assert "| Lucy | al-grid | 0.15 | 98.12 | – | 4.1 | – | – | – | – | 900 | 12,345 |" in text


def test_a_stray_body_counts_in_the_raw_scores_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball whose field also crosses zero in a corner."""
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(3)
    task = SdfTask.from_array(ball.vertices, ball.faces)

    def field(x: torch.Tensor) -> torch.Tensor:
        main, corner = x.norm(dim=-1) - 0.9, (x - 0.8).norm(dim=-1) - 0.08
        return torch.minimum(main, corner)[..., None]

    run = Run("al-grid", "ball.ply", method="al-grid", size=48)
    fitted = SimpleNamespace(task=task, field=field, result=SimpleNamespace(steps=1, seconds=1.0))
    monkeypatch.setattr(SdfTask.compare, "__defaults__", (20_000, 96))
    monkeypatch.setattr(shapes, "fit_shape", lambda run, data: fitted)
    monkeypatch.setattr(shapes, "fit_line", lambda run, fitted: {})
    metrics = shapes.execute(run, "")["metrics"]
    assert metrics["strays"] == 1
    assert metrics["hausdorff"] < 0.02 < 0.1 < metrics["raw_hausdorff"]
    assert metrics["chamfer"] < metrics["raw_chamfer"]
    assert metrics["raw_iou"] < metrics["iou"]
