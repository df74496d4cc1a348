"""Filling between samples: planes are kept, edges stay edges, and the solver agrees with a dense one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.experiments.compare.interpolators import bicubic, linear_pixels
from alfilter.inpainting import grid as filling
from alfilter.inpainting.grid import (
    Smoothness,
    bands,
    chosen,
    fill,
    gap_of,
    kinds,
    plain_bending,
    pyramid,
    structure_tensor,
)

NEAR = kinds(2.0)["near edges"]
PLATES = kinds(2.0)["plates"]


def every_other(shape):
    mask = np.zeros(shape, bool)
    mask[tuple(slice(None, None, 2) for _ in shape)] = True
    return mask


def disc(side=48, softness=0.7):
    """A disc with a soft edge, (side, side, 1)."""
    y, x = np.indices((side, side)) - side / 2 + 0.3
    return (1 / (1 + np.exp((np.hypot(y, x) - side / 3) / softness)))[..., None].astype(np.float32)


@settings(max_examples=20, deadline=None)
@given(
    slopes=st.tuples(st.floats(-0.02, 0.02), st.floats(-0.02, 0.02)),
    share=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
    name=st.sampled_from(["near edges", "far edges", "plates"]),
)
def test_a_plane_is_kept(slopes, share, seed, name):
    rows, columns = np.indices((20, 24))
    plane = (0.5 + slopes[0] * (rows - 10) + slopes[1] * (columns - 12))[..., None].astype(np.float32)
    seen = np.random.default_rng(seed).random((20, 24)) < share
    # no second difference is centred in a corner or reaches across it
    seen[[0, 0, 0, 1, 1, -1, -1, -1, -2, -2], [0, 1, -1, 0, -1, 0, 1, -1, 0, -1]] = True
    result = fill(plane, seen, kinds(1.5)[name])
    assert np.abs(result - plane).max() < 5e-3


@pytest.mark.parametrize("name", ["near edges", "far edges", "plates"])
@pytest.mark.parametrize("spacing", [2, 5])
def test_what_is_seen_stays_and_nothing_else_is_read(name, spacing):
    picture, seen = disc(), np.zeros((48, 48), bool)
    seen[::spacing, ::spacing] = True
    spoiled = np.where(seen[..., None], picture, np.float32(np.nan))
    first, second = (fill(values, seen, kinds(spacing)[name]) for values in (picture, spoiled))
    assert np.array_equal(first[seen], picture[seen])
    assert np.array_equal(first, second)
    assert first.dtype == np.float32


def test_the_solver_agrees_with_a_dense_system():
    """Thin plates on a small grid: the normal equations written out row by row."""
    rng = np.random.default_rng(3)
    values, seen = rng.random((7, 8, 1)).astype(np.float32), rng.random((7, 8)) < 0.4
    seen[::6, ::7] = True
    rows = []
    for y in range(7):
        for x in range(8):
            for dy, dx in [(0, 1), (1, 0), (1, 1), (1, -1)]:
                if y - dy >= 0 and y + dy < 7 and min(x - dx, x + dx) >= 0 and max(x - dx, x + dx) < 8:
                    line = np.zeros((7, 8))
                    line[y, x], line[y + dy, x + dx], line[y - dy, x - dx] = -2, 1, 1
                    rows.append(line.ravel() * (dy * dy + dx * dx) ** (-PLATES.rough / 4))
    matrix = np.array(rows)
    free = ~seen.ravel()
    expected = values.ravel().astype(float).copy()
    right = -matrix[:, ~free] @ expected[~free]
    expected[free] = np.linalg.lstsq(matrix[:, free], right, rcond=None)[0]
    assert np.abs(fill(values, seen, PLATES).ravel() - expected).max() < 2e-3


def test_the_kernel_is_its_plain_twin():
    kernels = pytest.importorskip("alfilter.kernels.second_differences")
    rng = np.random.default_rng(0)
    values, strides = rng.random(200, dtype=np.float32), np.array([1, 13, 27])
    weights = rng.random((3, 200), dtype=np.float32)
    for weight, stride in zip(weights, strides, strict=True):
        weight[:stride] = 0
        weight[-stride:] = 0
    fast, slow = np.empty_like(values), np.empty_like(values)
    kernels.bending(values, strides, weights, fast)
    plain_bending(values, strides, weights, slow)
    assert np.allclose(fast, slow, atol=1e-5)


def test_the_operator_is_symmetric_and_positive():
    rng = np.random.default_rng(1)
    weights = rng.random((2, 60), dtype=np.float32)
    weights[0, :1] = weights[0, -1:] = weights[1, :9] = weights[1, -9:] = 0
    a, b = rng.standard_normal((2, 60)).astype(np.float32)
    out_a, out_b = np.empty_like(a), np.empty_like(b)
    plain_bending(a, [1, 9], weights, out_a)
    plain_bending(b, [1, 9], weights, out_b)
    assert float(b @ out_a) == pytest.approx(float(a @ out_b), rel=1e-4)
    assert float(a @ out_a) > 0


def test_edges_are_kept_better_than_by_bicubic_interpolation():
    picture, seen = disc(), every_other((48, 48))
    unseen = ~seen

    def error(found):
        return float(np.mean((found[unseen] - picture[unseen]) ** 2))

    assert error(fill(picture, seen)) < 0.6 * error(bicubic(picture.astype(float), seen))


def test_without_edges_the_weights_are_those_of_a_plate():
    """power 0: the structure tensor has no say, whatever its scale."""
    picture, seen = disc(24), every_other((24, 24))
    one = fill(picture, seen, Smoothness(2.0, 0.04, 0.0, 1.5))
    other = fill(picture, seen, Smoothness(2.0, 9.0, 0.0, 6.0))
    assert np.array_equal(one, other)


def test_the_kind_is_chosen_by_what_was_kept_back():
    y, x = np.indices((64, 64)) / 64
    smooth = (0.5 + 0.4 * np.sin(5 * x + 1) * np.cos(4 * y))[..., None].astype(np.float32)
    seen = np.random.default_rng(0).random((64, 64)) < 0.3
    gap = (seen.size / seen.sum()) ** 0.5
    named = {kind: name for name, kind in kinds(gap).items()}
    assert named[chosen(smooth, seen)] == "plates"
    assert named[chosen(disc(64, 0.3), seen)] == "near edges"


def test_sparse_edges_are_nearer_than_by_linear_interpolation():
    picture, seen = disc(96), np.random.default_rng(0).random((96, 96)) < 0.05

    def error(found):
        return float(np.mean((found - picture)[~seen] ** 2))

    found = fill(picture, seen, kinds(gap_of(seen))["far edges"])
    assert error(found) < 0.5 * error(linear_pixels(picture.astype(float), seen))


def test_the_way_the_grid_is_cut_into_cells_has_no_side():
    """Where cells are cut in both ways, a sample in the corner of every cell moves nothing to one side."""
    ramp = np.broadcast_to(np.arange(33, dtype=np.float32)[:, None, None] / 32, (33, 33, 1))
    seen = np.zeros((33, 33), bool)
    seen[::4, ::4] = True
    assert np.abs(fill(ramp, seen, kinds(4.0)["far edges"]) - ramp).max() < 5e-3


def test_few_samples_are_not_divided():
    seen = np.zeros((16, 16), bool)
    seen[::8, ::8] = True
    assert chosen(np.zeros((16, 16, 1), np.float32), seen) == next(iter(kinds(8.0).values()))


@pytest.mark.parametrize("shape", [(40,), (12, 12), (10, 9, 8)])
def test_one_two_and_three_dimensions(shape):
    grid = np.stack(np.indices(shape), -1).sum(-1)[..., None].astype(np.float32) / sum(shape)
    result = fill(grid, every_other(shape))
    inner = tuple(slice(2, -3) for _ in shape)
    assert np.abs(result - grid)[inner].max() < 0.02


@pytest.mark.parametrize("shape", [(1, 5), (1, 1), (2, 2), (3, 1)])
def test_grids_too_small_for_a_difference(shape):
    values = np.full((*shape, 2), 0.25, np.float32)
    seen = np.zeros(shape, bool)
    seen[0, 0] = True
    assert np.allclose(fill(values, seen), 0.25)


def test_structure_tensor_of_a_slanted_ramp():
    rows, columns = np.indices((9, 9))
    ramp = (3 * rows + 4 * columns)[..., None].astype(np.float32)
    tensor = structure_tensor(ramp, 0.1, 0.1)[4, 4]
    assert tensor == pytest.approx(np.array([[9, 12], [12, 16]]), rel=1e-3)


def test_pyramid_of_one_sample_is_constant():
    seen = np.zeros((5, 7), bool)
    seen[3, 2] = True
    assert np.all(pyramid(np.where(seen[..., None], np.float32(0.7), 0).astype(np.float32), seen) == np.float32(0.7))


def test_bands_cover_the_grid_once_and_overlap(monkeypatch):
    monkeypatch.setattr(filling, "_BAND", 10 * 16)
    parts = bands((64, 16), gap=1.0)
    covered = [row for _, keep in parts for row in range(64)[keep]]
    assert covered == list(range(64))
    assert all(read.start == max(0, keep.start - 10) and read.stop == min(64, keep.stop + 10) for read, keep in parts)


def test_of_a_huge_grid_some_bands_are_filled(monkeypatch):
    monkeypatch.setattr(filling, "_BAND", 10 * 16)
    monkeypatch.setattr(filling, "_FILLED", 32 * 16)
    parts = bands((640, 16), gap=1.0)
    assert len(parts) == 3
    assert parts[-1][1].start > 400


def test_bands_give_nearly_what_the_whole_gives(monkeypatch):
    picture, seen = disc(96), every_other((96, 96))
    whole = fill(picture, seen, NEAR)
    monkeypatch.setattr(filling, "_BAND", 32 * 96)
    for read, keep in bands((96, 96), gap=2.0):
        part = fill(picture[read], seen[read], NEAR)[keep.start - read.start :][: keep.stop - keep.start]
        assert np.abs(part - whole[keep]).max() < 0.02
