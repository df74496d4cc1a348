"""What a result line keeps besides its scores."""

from __future__ import annotations

import numpy as np
from tests.support.result_lines import scene

from alfilter.experiments.artifacts import busiest, png, structure


def test_alpha_structure_by_hand() -> None:
    target = scene()
    below = np.zeros(target.shape[:2])
    below[len(below) // 2 :] = 1.0
    assert structure(below, target) > 0.7
    assert structure(-below, target) < -0.7
    assert structure(np.ones_like(below), target) == 0.0


def test_the_busiest_square() -> None:
    target = np.zeros((20, 30, 3))
    target[12:18:2, 20:26] = 1.0
    top, left = busiest(target, 8)
    assert 8 <= top <= 12
    assert 17 <= left <= 22
    assert busiest(target, 40) == (0, 0)


def test_a_kept_picture_is_a_png() -> None:
    assert png(np.zeros((3, 4))).startswith("iVBORw0KGgo")
