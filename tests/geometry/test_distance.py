"""Exact distances, signs that survive damage, frames that go back."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shapes import ball, box_sdf, cube, trimesh

from alfilter.errors import UserError, need
from alfilter.geometry import Frame, signed_distance, winding_number
from alfilter.geometry.distance import MeshDistance, cloud_distance, nearest_points

POINTS = np.random.default_rng(1).uniform(-1.6, 1.6, (2000, 3))


def test_a_box_has_the_distance_of_its_formula() -> None:
    assert signed_distance(POINTS, *cube()) == pytest.approx(box_sdf(POINTS, (1, 1, 1)), abs=1e-12)


def test_against_an_independent_search_over_all_faces() -> None:
    """Every triangle of a small sphere, by trimesh's closest point on a triangle."""
    vertices, faces = ball(levels=1)
    some = POINTS[:60]
    corners = vertices[faces]
    each = [
        np.linalg.norm(trimesh.triangles.closest_point(corners, np.tile(p, (len(faces), 1))) - p, axis=1).min()
        for p in some
    ]
    assert MeshDistance(vertices, faces).unsigned(some) == pytest.approx(np.array(each), abs=1e-9)
    assert np.abs(signed_distance(some, vertices, faces)) == pytest.approx(np.array(each), abs=1e-9)


def test_holes_and_flipped_faces_do_not_flip_space() -> None:
    vertices, faces = ball(levels=4)
    rng = np.random.default_rng(0)
    damaged = faces[rng.random(len(faces)) > 0.01]
    damaged = np.where(rng.random(len(damaged))[:, None] < 0.005, damaged[:, ::-1], damaged)
    radius = np.linalg.norm(POINTS, axis=1)
    clear = np.abs(radius - 1) > 0.1
    signs = signed_distance(POINTS, vertices, np.ascontiguousarray(damaged))[clear] < 0
    assert (signs == (radius[clear] < 1)).all()


def test_the_winding_number_of_a_closed_body_counts_turns() -> None:
    assert winding_number(np.array([[0.0, 0, 0], [5, 0, 0]]), *ball()) == pytest.approx([1, 0], abs=0.02)


def test_the_source_s_target_for_clouds_is_exact_on_a_plane_and_near_a_sphere() -> None:
    rng = np.random.default_rng(0)
    plane = np.c_[rng.uniform(-1, 1, (500, 2)), np.zeros(500)]
    assert cloud_distance(POINTS, plane, np.tile([0.0, 0, 1], (500, 1))) == pytest.approx(POINTS[:, 2])
    directions = rng.normal(size=(20_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    near = directions[:200] * rng.uniform(0.99, 1.01, (200, 1))
    expected = np.linalg.norm(near, axis=1) - 1
    assert cloud_distance(near, directions, directions) == pytest.approx(expected, abs=3e-4)


def test_the_frame_is_the_source_s() -> None:
    """v -= mean; (v - min)/(max - min)·0.9 - 0.45 over all axes together; the domain is twice that."""
    points = np.random.default_rng(3).normal(size=(50, 3)) * [5, 2, 1] + 40
    centred = points - points.mean(axis=0)
    source = (centred - centred.min()) / (centred.max() - centred.min()) * 0.9 - 0.45
    frame = Frame.around(points)
    assert frame.into(points) == pytest.approx(2 * source)
    assert frame.back(frame.into(points)) == pytest.approx(points)
    assert Frame.read(frame.describe()) == frame


def test_frames_that_cannot_be() -> None:
    with pytest.raises(UserError, match="no extent"):
        Frame.around(np.ones((4, 3)))
    with pytest.raises(UserError, match="does not say where"):
        Frame.read({"scale": 1.0})
    with pytest.raises(UserError, match="not finite"):
        Frame.read({"offset": [0, 0, 0], "scale": -1.0})


def test_a_missing_library_names_the_extra() -> None:
    with pytest.raises(UserError, match=r"pip install 'alfilter\[shapes\]'"):
        need("a_module_that_is_not_there")


def test_a_cloud_may_have_fewer_points_than_are_asked_for() -> None:
    distance, index = nearest_points(POINTS[:2], POINTS[:3], 8)
    assert distance.shape == index.shape == (2, 3)
    assert index[:, 0].tolist() == [0, 1]
