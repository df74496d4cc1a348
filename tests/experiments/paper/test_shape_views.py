"""Agreement of surfaces, by parts that bend little and much."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shapes import ball

from alfilter.experiments.paper.shape_views import METHODS, STUDY, VIEWS, agreement, full_runs, half_runs, runs
from alfilter.geometry.repair import Triangles


def test_a_surface_agrees_with_itself() -> None:
    vertices, faces = ball(levels=3)
    scores = agreement(Triangles(vertices, faces), Triangles(vertices, faces), count=4000)
    assert set(scores) == {"normals_smooth", "normals_detail"}
    assert min(scores.values()) > 0.98


def test_a_rough_copy_agrees_less() -> None:
    vertices, faces = ball(levels=3)
    rough = np.asarray(vertices) * (1 + 0.05 * np.random.default_rng(0).standard_normal((len(vertices), 1)))
    smooth, bumpy = (agreement(Triangles(v, faces), Triangles(vertices, faces), 4000) for v in (vertices, rough))
    assert bumpy["normals_smooth"] < smooth["normals_smooth"] - 0.02


def test_every_method_has_the_same_time() -> None:
    assert [run.method for run in runs()] == list(METHODS)
    assert {run.training["budget"] for run in runs()} == {30.0}
    assert {(run.preset, run.size) for run in full_runs()} == {("paper", 512)}
    assert list(VIEWS) == ["whole", "chest", "leg"]


def test_half_scale_has_a_twentieth_of_the_steps() -> None:
    assert [run.method for run in half_runs()] == list(METHODS)
    assert {(run.preset, run.size) for run in half_runs()} == {("paper", 512)}
    assert {(run.training["steps"], run.training["every"]) for run in half_runs()} == {(10_000, 50)}
    assert STUDY.half is half_runs


def test_a_picture_of_a_view_shows_the_surface() -> None:
    from alfilter.experiments.paper import shape_views

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape_views, "SPLATS", 5000)
        patch.setattr(shape_views, "SIZE", 24)
        looks = shape_views._looks(Triangles(*ball(levels=2)))
    assert {name: look.shape[:2] for name, look in looks.items()} == dict.fromkeys(VIEWS, (24, 24))
