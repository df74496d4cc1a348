"""The study of shapes: interleaved runs, and a table with the printed values beside ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.shapes import ball, trimesh

from alfilter.experiments.paper import shapes
from alfilter.experiments.study import Run


def test_methods_take_turns_with_equal_time() -> None:
    runs = shapes.runs()
    groups = [run.group for run in runs if run.image == "meshes/lucy.ply"]
    assert groups == [*shapes.METHODS, *shapes.OTHER]
    assert [run.image for run in runs[: len(groups)]] == ["meshes/armadillo.obj"] * len(groups)
    assert {run.training["budget"] for run in runs} == {20.0}
    longer = shapes.LONG_STUDY.runs()
    assert {run.training["budget"] for run in longer} == {300.0}
    assert len({run.name for run in [*runs, *longer]}) == 2 * len(runs)


def test_the_table_shows_the_paper_s_numbers_beside() -> None:
    scores = {"chamfer": 4.85e-6, "chamfer_floor": 2.85e-6, "iou": 0.9812}
    line = {"group": "siren", "image": "meshes/armadillo.obj", "metrics": scores, "preset": "paper"}
    text = shapes.summarise([line])
    assert "| siren | 2.00 (1.26) | – (1.4) | – (1.73) | – (2.82) | 2.00 (1.8) |" in text
    assert "0.9812 (0.987)" in text
    assert "the floor taken off. (printed in the paper, floor included)\n" in text
    assert "Armadillo 2.85" in text


def test_the_twin_has_no_printed_numbers() -> None:
    """Its networks, their sizes and its seconds are not the paper's."""
    scores = {"chamfer": 4.85e-6, "chamfer_floor": 2.85e-6, "iou": 0.9812}
    line = {"group": "siren", "image": "meshes/armadillo.obj", "metrics": scores, "preset": "default"}
    text = shapes.summarise([line, {**line, "group": "siren, rates times 2.5"}])
    assert "| siren | 2.00 | – | – | – | 2.00 |" in text
    assert "| siren, rates times 2.5 | 2.00 | – | – | – | 2.00 |" in text
    assert "printed" not in text


def test_a_run_gives_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.tasks.sdf.SdfTask.__init__.__kwdefaults__", {"block": 256, "reuse": 4, "window": 2})
    requested: list[int] = []
    monkeypatch.setattr("alfilter.tasks.SdfTask.extract", lambda task, field, resolution: requested.append(resolution))
    trimesh.Trimesh(*ball(levels=2)).export(tmp_path / "ball.ply")
    settings = {"width": 8, "depth": 1}
    run = Run("siren", "ball.ply", method="siren", preset="default", settings=settings,
              training={"steps": 3, "batch": 64})  # fmt: skip
    line = shapes.execute(run, str(tmp_path))
    assert line["steps"] == 3
    assert "iou" in line["metrics"]
    shapes.execute(replace(run, size=512), str(tmp_path))
    assert requested == [256, 512]


def test_the_full_scale_is_scored_at_the_papers_resolution() -> None:
    (full,), (half,) = (runs(("meshes/lucy.ply",))[:1] for runs in (shapes.full_runs, shapes.half_runs))
    assert (full.preset, full.size, dict(full.training)) == ("paper", 512, {})
    assert (half.preset, half.size, dict(half.training)) == ("paper", 512, {"steps": 10_000, "every": 50})
