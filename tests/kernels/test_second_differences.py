"""The operator of the filling as a matrix: D' W D, symmetric, and zero on what is straight."""

from __future__ import annotations

import numpy as np
import pytest

kernels = pytest.importorskip("alfilter.kernels.second_differences", reason="needs numba")
COUNT, STRIDES = 12, np.array([1, 3], np.int64)


def weights() -> np.ndarray:
    positive = np.random.default_rng(0).random((2, COUNT)).astype(np.float32)
    for row, stride in zip(positive, STRIDES, strict=True):
        row[:stride] = row[COUNT - stride :] = 0
    return positive


def apply(values: np.ndarray) -> np.ndarray:
    out = np.empty(COUNT, np.float32)
    kernels.bending(values.astype(np.float32), STRIDES, weights(), out)
    return out


def test_the_matrix() -> None:
    expected = np.zeros((COUNT, COUNT))
    for row, stride in zip(weights(), STRIDES, strict=True):
        difference = np.zeros((COUNT, COUNT))
        for i in range(stride, COUNT - stride):
            difference[i, [i - stride, i, i + stride]] = 1, -2, 1
        expected += difference.T @ np.diag(row) @ difference
    matrix = np.stack([apply(row) for row in np.eye(COUNT)], axis=1)
    np.testing.assert_allclose(matrix, expected, atol=1e-6)


def test_a_line_does_not_bend() -> None:
    assert np.abs(apply(np.arange(COUNT))).max() < 1e-5
