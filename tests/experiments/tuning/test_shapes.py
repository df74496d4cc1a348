"""The search for shapes gives every method the same draws, and reads them through its own ranges."""

from __future__ import annotations

from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

from alfilter.experiments import STUDIES, run_study
from alfilter.experiments.paper.shapes import METHODS
from alfilter.experiments.tuning import shapes as shapes_search
from alfilter.experiments.tuning.draws import draws
from alfilter.experiments.tuning.shapes import BROAD, OPTIONS, RATES, drawn
from alfilter.methods import METHODS as KNOWN
from alfilter.methods import build, training
from alfilter.tasks import SdfTask

trimesh = pytest.importorskip("trimesh")


def test_every_method_of_the_table_is_searched() -> None:
    assert set(OPTIONS) == set(RATES) == set(METHODS)
    assert [run.training for run in shapes_search.runs()] == [{"budget": shapes_search.BUDGET}] * len(METHODS)


@pytest.mark.parametrize("method", OPTIONS)
def test_draws_are_settings_of_the_method(method: str) -> None:
    """They build a field and a training, and the second round stays around its centre."""
    first = drawn(method, [0.5] * 6, {})
    near = drawn(method, [0.0] * 6, first)
    assert set(first) == set(near) == {*RATES[method], *OPTIONS[method]}
    assert first["lr"] / near["lr"] < RATES[method]["lr"].at(0.999) / RATES[method]["lr"].at(0.0)
    recipe = {name: first[name] for name in RATES[method]}
    assert training(method, "default-shape", **recipe).lr == first["lr"]
    options = {name: first[name] for name in OPTIONS[method]}
    assert build(method, preset="default-shape", in_dim=3, out_dim=1, **options).in_dim == 3
    assert method in KNOWN


def test_the_draws_are_the_same_for_all() -> None:
    points = draws(BROAD, 0)
    rates = {name: [drawn(name, u, {})["batch"] for u in points] for name in OPTIONS}
    assert len({tuple(batches) for batches in rates.values()}) == 1


def test_a_whole_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "meshes" / "bunny.obj")
    monkeypatch.setattr(shapes_search, "RESOLUTION", 24)
    monkeypatch.setattr(shapes_search, "BUDGET", 0.1)
    monkeypatch.setattr(shapes_search, "BROAD", 3)
    monkeypatch.setattr(shapes_search, "NARROW", 2)
    monkeypatch.setattr(SdfTask, "compare", partialmethod(SdfTask.compare, points=2000, grid=32))
    study = STUDIES["shapes-search"]
    only = shapes_search.Study(study.name, lambda: shapes_search.runs()[1:2], study.summarise, study.execute)
    (line,) = run_study(only, str(tmp_path), str(tmp_path / "out"), 1, lambda line: None)
    assert len(line["trials"]) == 3 + 2
    best = max(trial["metrics"].get("iou", 0.0) for trial in line["trials"])
    assert line["metrics"].get("iou", 0.0) == best
    assert study.summarise([line]).count("(best)") == 1


def test_rates_are_tried_again_in_longer_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meshes").mkdir()
    trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "meshes" / "bunny.obj")
    monkeypatch.setattr(shapes_search, "RESOLUTION", 24)
    monkeypatch.setattr(shapes_search, "LONGER", {shapes_search.MESH: 0.1, shapes_search.CARVED: 0.1})
    runs = shapes_search.rates()
    assert len(runs) == 2 * len(OPTIONS) * len(shapes_search.FACTORS)
    siren = [run for run in runs if run.method == "siren"]
    assert [run.training["lr"] for run in siren] == pytest.approx([1.2e-3, 4.8e-4] * 2)
    lines = [shapes_search.execute_rates(run, str(tmp_path)) for run in siren[::2]]
    assert all(line["steps"] > 0 for line in lines)
    assert shapes_search.summarise_rates(lines).count("| siren, rates times 1 | 1 |") == 2


def test_a_relief_moves_vertices_along_their_normals() -> None:
    ball = trimesh.creation.icosphere(subdivisions=4)
    moved = shapes_search.carved(ball.vertices, ball.faces)
    away = np.linalg.norm(moved, axis=1) - 1
    wave = np.sin(2 * np.pi * shapes_search.WAVES * ball.vertices / 2).prod(axis=1)
    assert np.allclose(away, 2 * shapes_search.RELIEF * wave, atol=1e-4)
    assert np.abs(away).max() > shapes_search.RELIEF
