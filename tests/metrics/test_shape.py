"""Scores of surfaces with exact answers, and against computations of another kind."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.processor import cloud_with_no_tree_of_zeros, flushes_denormals
from tests.support.shapes import ball, cube, trimesh, union

from alfilter.geometry.occupancy import occupied
from alfilter.geometry.repair import Triangles
from alfilter.metrics.shape import chamfer, compare, iou, nearest, surface_samples
from alfilter.runtime.stages import Stage, watching
from alfilter.runtime.thread_pool import flushed_denormals


def moved(mesh: tuple[np.ndarray, np.ndarray], by: tuple[float, float, float]) -> Triangles:
    return Triangles(mesh[0] + np.asarray(by), mesh[1])


def test_cubes_that_overlap_by_half() -> None:
    one, other = moved(cube(), (0, 0, 0)), moved(cube(), (1, 0, 0))
    assert iou(one, other, 96) == pytest.approx(1 / 3, abs=0.01)
    assert iou(one, one, 64) == 1
    assert iou(one, moved(cube(), (5, 0, 0)), 64) == 0


def test_concentric_balls() -> None:
    """Radii 1 and 1.1: IoU 1/1.331, Chamfer 2·0.01 above its floor, worst distance 0.1, normals alike."""
    inner, outer = Triangles(*ball(1.0, levels=5)), Triangles(*ball(1.1, levels=5))
    scores = compare(inner, outer, points=40_000, grid=96)
    assert scores["iou"] == pytest.approx(1 / 1.1**3, abs=0.01)
    assert scores["chamfer"] == pytest.approx(0.02 + scores["chamfer_floor"], rel=0.03)
    assert scores["chamfer_half"] == scores["chamfer"] / 2
    assert scores["hausdorff"] == pytest.approx(0.1, abs=2e-3)
    assert scores["normals"] > 0.99


def test_the_floor_is_two_areas_over_pi_n() -> None:
    sphere = Triangles(*ball(levels=4))
    scores = compare(sphere, sphere, points=30_000, grid=32)
    assert scores["chamfer_floor"] == pytest.approx(2 * 4 * np.pi / (np.pi * 30_000), rel=0.05)
    assert scores["chamfer"] == pytest.approx(scores["chamfer_floor"], rel=0.05)
    assert scores["iou"] == 1
    assert scores["hausdorff"] < 1e-9


def test_chamfer_against_all_pairs() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(80, 3)), rng.normal(size=(90, 3))
    pairs = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    expected = pairs.min(axis=1).mean() + pairs.min(axis=0).mean()
    assert chamfer(nearest(a, b)[0], nearest(b, a)[0]) == pytest.approx(expected)


def test_occupancy_against_formulas() -> None:
    axis = np.linspace(-2.4, 2.4, 41)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    mesh = union(ball(levels=5), ball(centre=(1.0, 0, 0), levels=5))
    radii = [np.linalg.norm(grid - [x, 0, 0], axis=-1) for x in (0, 1)]
    clear = np.min([np.abs(r - 1) for r in radii], axis=0) > 0.01
    expected = (radii[0] < 1) | (radii[1] < 1)
    assert (occupied(*mesh, (axis, axis, axis)) == expected)[clear].all()
    hole = trimesh.creation.annulus(r_min=0.5, r_max=1.1, height=1.3)
    inside = occupied(np.asarray(hole.vertices), np.asarray(hole.faces), (axis, axis, axis))
    volume = inside.sum() * (axis[1] - axis[0]) ** 3
    assert volume == pytest.approx(np.pi * (1.1**2 - 0.5**2) * 1.3, rel=0.1)


def test_a_reference_with_a_hole_is_wound() -> None:
    vertices, faces = ball(levels=3)
    assert iou(Triangles(vertices, faces), Triangles(vertices, faces[3:]), 24, closed=False) > 0.97


def test_scoring_says_how_far_it_is() -> None:
    vertices, faces = ball(levels=2)
    told: list[Stage] = []
    with watching(told.append):
        compare(Triangles(vertices, faces), Triangles(vertices, faces[3:]), points=500, grid=16, closed=False)
    ends = {each.name: each.done for each in told}
    assert ends == {"scoring the surface": 1.0, "telling inside from outside": 1.0}


def test_samples_lie_on_the_surface() -> None:
    points, normals = surface_samples(Triangles(*cube()), 500, np.random.default_rng(0))
    assert (points * normals).sum(axis=1) == pytest.approx(np.ones(500))


@flushes_denormals
def test_samples_are_searched_where_denormals_are_flushed() -> None:
    cloud = cloud_with_no_tree_of_zeros()
    with flushed_denormals():
        assert nearest(cloud, cloud)[0].max() == 0
