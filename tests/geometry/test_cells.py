"""Cells and corners of a grid, by hand and against loops over every cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.geometry.cells import (
    corners_of,
    dilated,
    gradient_norms,
    local_maximum,
    neighbours,
    over_corners,
    second_differences,
    sign_changes,
    subdivided,
    upsampled,
)

seeds = st.integers(0, 2**32 - 1)


def grid(seed: int, side: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(side,) * 3).astype(np.float32)


def corners(values: np.ndarray, cell: tuple[int, ...]) -> np.ndarray:
    return values[tuple(slice(k, k + 2) for k in cell)]


@given(seeds)
def test_a_cell_is_its_eight_corners(seed: int) -> None:
    values = grid(seed)
    least, changes = over_corners(values, np.minimum), sign_changes(values)
    for cell in product(range(4), repeat=3):
        block = corners(values, cell)
        assert least[cell] == block.min()
        assert changes[cell] == ((block < 0).any() and (block >= 0).any())


@given(seeds)
def test_corners_of_marked_cells(seed: int) -> None:
    cells = grid(seed, 3) > 0.5
    expected = np.zeros((4, 4, 4), bool)
    for cell in np.argwhere(cells):
        corners(expected, tuple(cell))[...] = True
    assert np.array_equal(corners_of(cells), expected)


def test_a_linear_field_has_one_slope_and_no_bend() -> None:
    x, y, z = np.meshgrid(*[np.arange(5, dtype=np.float32)] * 3, indexing="ij")
    values = 2 * x - 3 * y + 6 * z
    assert gradient_norms(values) == pytest.approx(np.full((4, 4, 4), 7.0))
    assert np.abs(second_differences(values)).max() < 1e-4
    assert second_differences(x**2) == pytest.approx(np.full((4, 4, 4), 2.0))


@given(seeds)
def test_upsampling_keeps_values_and_means(seed: int) -> None:
    values = grid(seed)
    fine = upsampled(values)
    assert fine.shape == (9, 9, 9)
    assert np.array_equal(fine[::2, ::2, ::2], values)
    assert fine[1, 0, 0] == pytest.approx((values[0, 0, 0] + values[1, 0, 0]) / 2, abs=1e-6)
    assert fine[1::2, 1::2, 1::2] == pytest.approx(over_corners(values, np.add) / 8, abs=1e-5)


def test_one_cell_by_hand() -> None:
    cells = np.zeros((5, 5, 5), bool)
    cells[2, 2, 2] = True
    assert int(dilated(cells).sum()) == 27
    assert int(subdivided(cells).sum()) == 8
    assert int(corners_of(cells).sum()) == 8
    values = cells.astype(np.float32)
    assert np.array_equal(local_maximum(values) > 0, dilated(cells))
    before, after = neighbours(np.arange(4), 0)
    assert (before.tolist(), after.tolist()) == ([0, 1, 2], [1, 2, 3])
