"""Points painted on a picture: the nearest wins, what faces away is left out, a window enlarges."""

from __future__ import annotations

import numpy as np

from alfilter.geometry.splat import LIGHT, TINT, splat

UP = np.array([0.0, 0.0, 1.0])


def test_the_nearest_point_is_seen_and_lit() -> None:
    points = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5]])
    tilted = np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
    picture = splat(points, np.stack([UP, tilted]), 3, turn=0, tilt=0)
    assert np.allclose(picture[1, 1], (0.18 + 0.82 * LIGHT[2]) * TINT)
    assert (picture.reshape(-1, 3) == 1).all(axis=1).sum() == 8


def test_what_faces_away_is_left_out() -> None:
    assert (splat(np.zeros((1, 3)), -UP[None], 5, turn=0, tilt=0) == 1).all()


def test_right_is_right_and_up_is_up() -> None:
    picture = splat(np.array([[0.9, 0.9, 0.0]]), UP[None], 4, turn=0, tilt=0, reach=1.0)
    assert (picture[0, 3] < 1).all()


def test_a_window_enlarges_and_a_brush_fills() -> None:
    points = np.array([[0.5, 0.5, 0.0], [-0.5, -0.5, 0.0]])
    normals = np.stack([UP, UP])
    near = splat(points, normals, 9, turn=0, tilt=0, centre=(0.5, 0.5), reach=0.1)
    assert (near < 1).all(axis=2).sum() == 1
    filled = splat(points, normals, 9, turn=0, tilt=0, centre=(0.5, 0.5), reach=0.1, point_size=3)
    assert (filled < 1).all(axis=2).sum() == 9


def test_every_point_may_have_its_own_tint() -> None:
    points = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    tints = np.eye(3)
    picture = splat(points, np.stack([UP, UP, -UP]), 4, turn=0, tilt=0, reach=1.0, tints=tints)
    seen = picture[(picture < 1).any(axis=2)]
    assert sorted(colour.argmax() for colour in seen) == [0, 1]  # the third faces away
