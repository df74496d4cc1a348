"""What a result line keeps besides its scores."""

from __future__ import annotations

import numpy as np
from tests.support.result_lines import scene

from alfilter.experiments.artifacts import alpha_structure, png


def test_alpha_structure_by_hand() -> None:
    target = scene()
    below = np.zeros(target.shape[:2])
    below[len(below) // 2 :] = 1.0
    assert alpha_structure(below, target) > 0.7
    assert alpha_structure(-below, target) < -0.7
    assert alpha_structure(np.ones_like(below), target) == 0.0


def test_a_kept_picture_is_a_png() -> None:
    assert png(np.zeros((3, 4))).startswith("iVBORw0KGgo")
