"""Interpolators keep what is seen and follow what is simple."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.experiments.compare.interpolators import PIXELS, POINTS, bicubic


def every_other(shape: tuple[int, int]) -> np.ndarray:
    seen = np.zeros(shape, bool)
    seen[::2, ::2] = True
    return seen


def test_bicubic_by_hand_and_against_pillows_kernel() -> None:
    row = np.array([0.0, 0, 0, 0, 1, 0, 0, 0, 0])
    row_of_values = bicubic(np.tile(row, (9, 1))[..., None], every_other((9, 9)))[0, :, 0]
    assert row_of_values[[3, 4, 5]].tolist() == [9 / 16, 1, 9 / 16]
    assert row_of_values[[1, 7]].tolist() == [-1 / 16, -1 / 16]
    with pytest.raises(ValueError, match="every:2"):
        bicubic(np.zeros((4, 4, 1)), np.ones((4, 4), bool))


@pytest.mark.parametrize("name", list(PIXELS))
def test_interpolators_keep_what_is_seen_and_follow_a_ramp(name: str) -> None:
    rows, columns = np.indices((17, 17)) / 16
    ramp = np.stack([rows, 0.5 * columns + 0.25], axis=-1)
    seen = every_other((17, 17))
    filled = PIXELS[name](ramp, seen)
    np.testing.assert_allclose(filled[seen], ramp[seen], atol=1e-6)
    np.testing.assert_allclose(filled[4:-4, 4:-4], ramp[4:-4, 4:-4], atol=0.01)


@pytest.mark.parametrize("name", list(POINTS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_interpolators_of_points_follow_a_plane(name: str) -> None:
    rng = np.random.default_rng(0)
    places, queries = rng.random((120, 2)) * [4, 90], (rng.random((20, 2)) * 0.6 + 0.2) * [4, 90]
    plane = lambda at: (at @ [[2.0], [0.1]]) + 3  # noqa: E731
    np.testing.assert_allclose(POINTS[name](places, plane(places), queries), plane(queries), atol=0.1)
