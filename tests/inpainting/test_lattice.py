"""The middle of four samples: planes are kept, an edge goes on, and the weights are those of plain least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.experiments.compare.interpolators import bicubic
from alfilter.inpainting import lattice
from alfilter.inpainting.grid import fill, kinds
from alfilter.inpainting.lattice import DIAGONAL, STRAIGHT, centres, is_lattice, settled

NEAR = kinds(2.0)["near edges"]


def every_other(shape):
    seen = np.zeros(shape, bool)
    seen[::2, ::2] = True
    return seen


def edge(shape):
    """A straight edge at an angle, (*shape, 1)."""
    y, x = np.indices(shape)
    return (0.5 + 0.4 * np.tanh(0.8 * (0.9 * (x - shape[1] / 2) + 0.4 * (y - shape[0] / 2))))[..., None].astype(
        np.float32
    )


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda seen: seen, True),
        (lambda seen: seen[:-1, :-1], True),
        (lambda seen: seen[1:], False),
        (lambda seen: ~seen, False),
        (lambda seen: seen[:12], False),
        (lambda seen: seen[0], False),
    ],
    ids=["every:2", "odd sides", "another first row", "the others", "too small", "one axis"],
)
def test_which_masks_are_lattices(change, wanted):
    assert is_lattice(change(every_other((20, 24)))) is wanted


@settings(max_examples=20, deadline=None)
@given(
    slopes=st.tuples(st.floats(-0.03, 0.03), st.floats(-0.03, 0.03)),
    sides=st.tuples(st.integers(8, 14), st.integers(8, 14)),
)
def test_a_plane_goes_through_the_centres(slopes, sides):
    rows, columns = np.indices(sides)
    plane = (0.5 + slopes[0] * rows + slopes[1] * columns)[..., None].astype(np.float32)
    middle = (plane[:-1, :-1] + plane[1:, 1:]) / 2
    assert np.abs(centres(plane) - middle).max() < 1e-5


def test_the_weights_are_those_of_least_squares(monkeypatch):
    """One model with a window so wide that every sample counts the same: one regression over the whole lattice."""
    samples, four = edge((24, 24)), ((-1, -1), (-1, 1), (1, -1), (1, 1))
    monkeypatch.setattr(lattice, "_MODELS", ((list(four), 100.0, 1e-4),))
    padded = np.pad(samples[..., 0], 1, mode="reflect", reflect_type="odd")
    near = np.stack([padded[1 + a :, 1 + b :][:24, :24].ravel() for a, b in four], -1).astype(np.float64)
    mean = near.mean(-1)
    design, target = near - mean[:, None], samples.ravel() - mean
    weights = np.linalg.solve(design.T @ design / 24**2 + 1e-4 * np.eye(4), design.T @ target / 24**2)
    around = samples[9:11, 7:9, 0].ravel()
    expected = around.mean() + (around - around.mean()) @ weights
    assert centres(samples)[9, 7, 0] == pytest.approx(expected, abs=1e-3)


def test_an_edge_is_nearer_than_by_smoothness_alone():
    picture, seen = edge((64, 64)), every_other((64, 64))
    between = np.zeros_like(seen)
    between[9:-9:2, 9:-9:2] = True

    def error(filled):
        return float(np.mean((filled - picture)[between] ** 2))

    with_scale, without = (error(fill(picture, seen, replace(NEAR, lattice=on))) for on in (True, False))
    assert with_scale < without < error(bicubic(picture.astype(np.float64), seen))


@settings(max_examples=20, deadline=None)
@given(
    slopes=st.tuples(st.floats(-0.03, 0.03), st.floats(-0.03, 0.03)),
    sides=st.tuples(st.integers(16, 21), st.integers(16, 21)),
    straight=st.booleans(),
)
def test_a_plane_is_settled(slopes, sides, straight):
    rows, columns = np.indices(sides)
    plane = (0.5 + slopes[0] * rows + slopes[1] * columns)[..., None].astype(np.float32)
    known = (rows + columns) % 2 == 0 if straight else every_other(sides)
    assert np.abs(settled(plane, known, STRAIGHT if straight else DIAGONAL, own=0.5) - plane).max() < 1e-4


def test_what_is_settled_is_the_minimum_written_out(monkeypatch):
    """Weights held at a quarter each: the guess, and every known sample the mean of the four unknown around it."""
    rng = np.random.default_rng(2)
    u, known = rng.random((10, 11, 1)).astype(np.float32), every_other((10, 11))
    monkeypatch.setattr(lattice, "_HELD", 1e9)
    found = settled(u, known, DIAGONAL)
    unknown = [(y, x) for y in range(1, 10, 2) for x in range(1, 10, 2)]
    inner = [(y, x) for y in range(2, 9, 2) for x in range(2, 10, 2)]
    means = np.array([[(abs(y - v) == 1 and abs(x - w) == 1) / 4 for v, w in unknown] for y, x in inner])
    guess = np.array([u[place][0] for place in unknown], np.float64)
    samples = np.array([u[place][0] for place in inner], np.float64)
    expected = np.linalg.solve(3 * np.eye(len(unknown)) + means.T @ means, 3 * guess + means.T @ samples)
    assert [found[place][0] for place in unknown] == pytest.approx(expected, abs=1e-4)
    changed = np.zeros((10, 11), bool)
    changed[1::2, 1::2] = True
    assert np.array_equal(found[~changed], u[~changed])


def test_a_lattice_keeps_what_is_seen_and_reads_nothing_else():
    picture, seen = edge((33, 40)), every_other((33, 40))
    spoiled = np.where(seen[..., None], picture, np.float32(np.nan))
    first, second = fill(picture, seen, NEAR), fill(spoiled, seen, NEAR)
    assert np.array_equal(first[seen], picture[seen])
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
