"""Values between scattered points."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.processor import cloud_with_no_tree_of_zeros, flushes_denormals

from alfilter.inpainting.points import near_places, places_between, spread
from alfilter.runtime.thread_pool import flushed_denormals


def cloud(count=300, dims=2, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (count, dims))


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_a_plane_is_kept(dims):
    points = cloud(dims=dims)
    slope = np.arange(1, dims + 1)
    values = (points @ slope)[:, None]
    places = cloud(50, dims, seed=1) * 0.6
    assert spread(points, values, places)[:, 0] == pytest.approx(places @ slope, abs=1e-6)


def test_noise_is_smoothed_and_exact_values_are_not():
    points = cloud(600)
    clean = np.sin(3 * points[:, :1])
    noisy = clean + 0.3 * np.random.default_rng(2).standard_normal(clean.shape)
    places = cloud(200, seed=3) * 0.9
    truth = np.sin(3 * places[:, :1])
    assert np.abs(spread(points, clean, places) - truth).max() < 0.02
    assert np.abs(spread(points, clean, points) - clean).max() < 1e-6
    assert np.mean((spread(points, noisy, places) - truth) ** 2) < 0.09


def test_a_place_measured_twice_has_the_mean():
    points = np.concatenate([cloud(30), [[0.1, 0.2], [0.1, 0.2]]])
    values = np.concatenate([np.ones((30, 1)), [[0.0], [2.0]]])
    assert spread(points, values, np.array([[0.1, 0.2]]))[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((1, 2)),
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        np.linspace(-1, 1, 40)[:, None] * np.array([[1.0, 2.0]]) / 2,
    ],
    ids=["one", "two", "on a line"],
)
def test_points_without_a_plane_have_the_nearest_value(points):
    values = np.arange(float(len(points)))[:, None]
    result = spread(points, values, points + 1e-3)
    assert np.array_equal(result, values)
    assert np.isfinite(near_places(points)).all()


def test_places_follow_the_density_of_the_points():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(-0.5, 0.02, (400, 2)), rng.uniform(-1, 1, (100, 2))])
    places = near_places(points)
    assert len(places) == 2000
    assert np.array_equal(places, near_places(points))
    assert np.mean(np.linalg.norm(places + 0.5, axis=1) < 0.1) > 0.6
    assert (places >= points.min(0)).all()
    assert (places <= points.max(0)).all()


@pytest.mark.parametrize(
    ("count", "dims", "side"), [(10, 1, 160), (40, 2, 25), (5000, 2, 256), (100, 3, 12), (50, 4, 5)]
)
def test_a_lattice_covers_the_box_and_more_is_filled_near_points(count, dims, side):
    places = places_between(cloud(count, dims))
    nodes, near = places[: side**dims], places[side**dims :]
    assert len(near) == min(4 * count, 16_384)
    assert sorted(set(nodes[:, 0])) == pytest.approx(np.linspace(-1, 1, side))
    assert len(np.unique(nodes, axis=0)) == side**dims


def test_what_weighs_little_is_smoothed_much():
    """Half of the points are off by a lot, and say so."""
    points = cloud(600)
    clean = np.sin(3 * points[:, :1])
    draw = np.random.default_rng(2)
    size = np.where(np.arange(600) % 2, 0.02, 1.0)[:, None]
    noisy = clean + size * draw.standard_normal(clean.shape)
    places = cloud(200, seed=3) * 0.9
    truth = np.sin(3 * places[:, :1])
    errors = [np.mean((spread(points, noisy, places, w) - truth) ** 2) for w in (None, 1 / size[:, 0] ** 2)]
    assert errors[1] < 0.1 * errors[0]


def test_the_mean_of_a_place_is_weighted():
    points = np.concatenate([cloud(30), [[0.1, 0.2], [0.1, 0.2]]])
    values = np.concatenate([np.ones((30, 1)), [[0.0], [4.0]]])
    weights = np.concatenate([np.ones(30), [3.0, 1.0]])
    assert spread(points, values, np.array([[0.1, 0.2]]), weights)[0, 0] == pytest.approx(1.0)


def test_smoothing_does_not_depend_on_the_number_of_points():
    """The same noise on four times as many points of the same kind: smoothed as much, so more is gained."""
    errors = []
    for count in (500, 2000, 8000):
        points = cloud(count)
        noisy = points[:, :1] + 0.3 * np.random.default_rng(2).standard_normal((count, 1))
        places = cloud(200, seed=3) * 0.9
        errors.append(np.sqrt(np.mean((spread(points, noisy, places) - places[:, :1]) ** 2)))
    assert max(errors) < 0.16


@flushes_denormals
def test_denormals_may_be_flushed_around_it():
    """A step of training, where a filling is first asked for, flushes them."""
    points = cloud_with_no_tree_of_zeros()
    on_a_line = points[10:]
    for some in (points, on_a_line):
        expected = near_places(some), spread(some, some, some / 2)
        with flushed_denormals():
            found = near_places(some), spread(some, some, some / 2)
        assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
