"""What a result line keeps besides its scores."""

from __future__ import annotations

import numpy as np
from tests.support.result_lines import scene

from alfilter.experiments.artifacts import alpha_structure, png


def test_alpha_structure_by_hand() -> None:
    target = scene()
    below = np.zeros(target.shape[:2])
    below[len(below) // 2 :] = 1.0
    above, under = alpha_structure(below, target), alpha_structure(-below, target)
    assert above is not None
    assert under is not None
    assert above > 0.7
    assert under < -0.7


def test_ranks_of_a_map_that_did_not_move_mean_nothing() -> None:
    target = scene()
    below = np.zeros(target.shape[:2])
    below[len(below) // 2 :] = 1.0
    assert alpha_structure(16 + 1e-3 * below, target) is None  # a standard deviation of half a thousandth of a channel
    assert alpha_structure(16 + 4e-3 * below, target) is not None


def test_a_kept_picture_is_a_png() -> None:
    assert png(np.zeros((3, 4))).startswith("iVBORw0KGgo")
