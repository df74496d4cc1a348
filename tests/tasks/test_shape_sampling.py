"""Where the samples of a shape lie: inside the domain, with the scales in order."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shapes import cube

from alfilter.signals import ShapeSignal
from alfilter.tasks.shape_sampling import GRADED, SAMPLINGS, SOURCE, Sampling, scatter


def test_periods_and_shares() -> None:
    assert (SOURCE.period, SOURCE.near) == (2, 0.5)
    assert (GRADED.period, GRADED.near) == (10, 0.5)
    assert all(len(rule.scales) == len(rule.weights) for rule in SAMPLINGS.values())


@pytest.mark.parametrize("rule", SAMPLINGS)
def test_points_are_wrapped_into_the_domain_and_exact_in_float32(rule: str) -> None:
    points = scatter(ShapeSignal.from_mesh(*cube()), 2000, np.random.default_rng(0), SAMPLINGS[rule])
    assert points.shape == (2000, 3)
    assert np.abs(points).max() <= 1
    assert np.array_equal(points, points.astype(np.float32).astype(np.float64))


def test_each_sample_has_the_scale_of_its_place_in_the_order() -> None:
    """With the same random numbers, a sample's distance from the surface point grows with its scale."""
    signal, still = ShapeSignal.from_mesh(*cube()), Sampling((0.0,), (1.0,), "square")
    start = scatter(signal, 3000, np.random.default_rng(5), still)
    noisy = scatter(signal, 3000, np.random.default_rng(5), SOURCE)
    distance = np.abs(noisy - start).mean(axis=1)
    far, near = distance[0::2], distance[1::2]
    assert near.mean() == pytest.approx(0.002, rel=0.1)
    assert far.mean() > 20 * near.mean()
