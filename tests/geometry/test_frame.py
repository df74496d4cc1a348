"""The frame of a shape: in and out again, the shape inside its box, and what a broken model file gets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.geometry.frame import REACH, Frame


def cloud(seed: int, scale: float = 1.0, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(20, 3)) * [1, 2, 3] * scale + shift


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_into_the_domain_and_back(seed: int, scale: float, shift: float) -> None:
    points = cloud(seed, scale, shift)
    frame = Frame.around(points)
    inside = frame.into(points)
    assert inside.max() == pytest.approx(REACH)
    assert inside.min() == pytest.approx(-REACH)
    assert frame.back(inside) == pytest.approx(points, rel=1e-9, abs=1e-9 * (abs(shift) + scale))


def test_distances_scale_alike_along_all_axes() -> None:
    points = cloud(0)
    frame = Frame.around(points)
    inside = frame.into(points)
    far, near = (np.linalg.norm(p[3] - p[7]) for p in (points, inside))
    assert far == pytest.approx(frame.scale * near)


def test_a_model_file_keeps_it() -> None:
    frame = Frame.around(cloud(1))
    assert Frame.read(frame.describe()) == frame
    for facts in (None, {}, {"offset": [0, 0], "scale": 1}, {"offset": [0, 0, 0], "scale": "x"}):
        with pytest.raises(UserError, match="does not say where its shape stands; fit it again"):
            Frame.read(facts)
    with pytest.raises(UserError, match="frame is not finite; fit it again"):
        Frame.read({"offset": [0, 0, 0], "scale": 0})


def test_one_point_has_no_frame() -> None:
    with pytest.raises(UserError, match="no extent: all its points are one"):
        Frame.around(np.ones((4, 3)))
