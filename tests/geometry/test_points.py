"""The curve through points: every point once, neighbours one after the other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.processor import cloud_with_no_tree_of_zeros, flushes_denormals

from alfilter.geometry.points import curve_order, point_tree
from alfilter.runtime.thread_pool import flushed_denormals

POINTS = np.random.default_rng(1).uniform(-1.6, 1.6, (2000, 3))


@given(st.integers(0, 40))
def test_the_curve_visits_every_point_once(count: int) -> None:
    assert sorted(curve_order(POINTS[:count])) == list(range(count))


def test_its_steps_are_short() -> None:
    step = np.linalg.norm(np.diff(POINTS[curve_order(POINTS)], axis=0), axis=1).mean()
    assert step < np.linalg.norm(np.diff(POINTS, axis=0), axis=1).mean() / 5


@flushes_denormals
def test_a_tree_of_points_is_built_where_denormals_are_flushed() -> None:
    cloud = cloud_with_no_tree_of_zeros()
    with flushed_denormals():
        for far in (False, True):
            assert point_tree(cloud, far=far).query(cloud)[0].max() == 0


def test_both_trees_find_the_same_points() -> None:
    queries = np.random.default_rng(2).uniform(-3, 3, (500, 3))
    found = [point_tree(POINTS, far=far).query(queries) for far in (False, True)]
    np.testing.assert_array_equal(*(distance for distance, _ in found))
    np.testing.assert_array_equal(*(index for _, index in found))
