"""A field at scattered places: a value depends on its place alone."""

from __future__ import annotations

import numpy as np

from alfilter.evaluate import distances_at
from alfilter.methods import build


def test_points_are_evaluated_independently_of_each_other() -> None:
    field = build("al-sine", in_dim=3, out_dim=1, width=16, depth=2, levels=3, grid=4)
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 3)).astype(np.float32)
    together = distances_at(field, points)
    assert np.array_equal(together[123:456], distances_at(field, points[123:456]))
    assert distances_at(field, points[:0]).shape == (0,)
