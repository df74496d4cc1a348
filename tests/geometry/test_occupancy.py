"""Which points lie inside a mesh: boxes by hand, a ball by its radius, overlapping bodies as their union."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.geometry import occupancy
from alfilter.geometry.occupancy import occupied

trimesh = pytest.importorskip("trimesh", reason="needs the extra shapes")
AXIS = np.linspace(-2, 2, 17)
GRID = np.stack(np.meshgrid(AXIS, AXIS, AXIS, indexing="ij"), -1)


def test_a_box_holds_the_points_between_its_sides() -> None:
    box = trimesh.creation.box((2.1, 1.1, 3.1))
    inside = (np.abs(GRID) < np.array([1.05, 0.55, 1.55])).all(-1)
    assert np.array_equal(occupied(box.vertices, box.faces, (AXIS,) * 3), inside)


def test_a_ball_is_known_by_its_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    ball = trimesh.creation.icosphere(subdivisions=4, radius=1.3)
    radius = np.linalg.norm(GRID, axis=-1)
    clear = np.abs(radius - 1.3) > 0.01
    whole = occupied(ball.vertices, ball.faces, (AXIS,) * 3)
    assert np.array_equal(whole[clear], (radius < 1.3)[clear])
    monkeypatch.setattr(occupancy, "_AT_ONCE", 7)  # the same in many small pieces
    assert np.array_equal(occupied(ball.vertices, ball.faces, (AXIS,) * 3), whole)


def test_overlapping_bodies_are_their_union_and_an_inverted_one_is_a_hole() -> None:
    outer, inner = trimesh.creation.box((3.1,) * 3), trimesh.creation.box((1.1,) * 3)
    both = trimesh.util.concatenate([outer, inner])
    counts = {"union": occupied(both.vertices, both.faces, (AXIS,) * 3).sum()}
    inner.invert()
    hollow = trimesh.util.concatenate([outer, inner])
    counts["hollow"] = occupied(hollow.vertices, hollow.faces, (AXIS,) * 3).sum()
    assert counts == {"union": 13**3, "hollow": 13**3 - 5**3}
