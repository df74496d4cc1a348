"""The two grids get the same changes, on a scan that is in no table."""

from __future__ import annotations

from pathlib import Path

import pytest

from alfilter.experiments import STUDIES
from alfilter.experiments.fitting import check_run
from alfilter.experiments.paper.shapes import SHAPES
from alfilter.experiments.tuning import shape_grids

trimesh = pytest.importorskip("trimesh")


def test_both_grids_get_the_same_changes_and_the_same_time() -> None:
    runs = shape_grids.runs()
    by_method = [
        [(run.settings, run.training, run.image) for run in runs if run.method == method]
        for method in shape_grids.METHODS
    ]
    assert by_method[0] == by_method[1]
    assert len({run.name for run in runs}) == len(runs) == 2 * len(shape_grids.CHANGES)
    assert not {run.image for run in runs} & set(SHAPES.values())
    for run in runs:
        check_run(run)


def test_a_line_and_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "meshes" / "bunny.obj")
    monkeypatch.setattr(shape_grids, "RESOLUTION", 24)
    monkeypatch.setattr(shape_grids, "BUDGET", 0.3)
    monkeypatch.setattr(shape_grids, "POINTS", 1000)
    line = shape_grids.execute(shape_grids.runs()[0], str(tmp_path))
    assert line["steps"] > 0
    text = STUDIES["shapes-grids"].summarise([line])
    assert f"| al-grid: as it was | 1 | {100 * line['metrics']['iou']:.2f} |" in text
