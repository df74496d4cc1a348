"""The two grids get the same choices, on a scan that is in no table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from alfilter.experiments import STUDIES
from alfilter.experiments.fitting import check_run
from alfilter.experiments.paper.shapes import SHAPES
from alfilter.experiments.tuning import shape_grids

trimesh = pytest.importorskip("trimesh")


def test_both_grids_get_the_same_choices_and_the_same_time() -> None:
    runs = shape_grids.runs()
    by_method = [
        [(run.settings, run.training, run.image) for run in runs if run.method == method]
        for method in shape_grids.METHODS
    ]
    assert by_method[0] == by_method[1]
    assert len({run.name for run in runs}) == len(runs) == 2 * len(shape_grids.SETTINGS)
    assert not {run.image for run in runs} & set(SHAPES.values())
    for run in runs:
        check_run(run)


def test_a_line_and_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "meshes" / "bunny.obj")
    monkeypatch.setattr(shape_grids, "RESOLUTION", 24)
    monkeypatch.setattr(shape_grids, "POINTS", 1000)
    monkeypatch.setattr(shape_grids, "GRID", 24)
    small = {"levels": 4, "finest": 32, "table": 10, "width": 16, "grid": 4}
    run = replace(shape_grids.runs()[0], settings=small, training={"steps": 60, "batch": 256})
    line = shape_grids.execute(run, str(tmp_path))
    assert line["steps"] == 60
    text = STUDIES["shapes-grids"].summarise([line])
    assert f"| al-grid: batch 4,096, 32,768 rows, finest 256 | 1 | {100 * line['metrics']['iou']:.2f} |" in text
