"""The compiled update of Adam against its formula, and the sums of several workers."""

from __future__ import annotations

import numpy as np
import pytest

kernels = pytest.importorskip("alfilter.kernels.adam", reason="needs numba")
GAIN1, BETA2, GAIN2, CORRECTION, EPSILON, RATE, KEEP = NUMBERS = [
    np.float32(v) for v in (0.1, 0.999, 0.001, 0.5, 1e-8, 0.01, 0.9)
]


def arrays(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    p, g, mean, square = rng.standard_normal((4, count)).astype(np.float32)
    return [p, g, mean, square**2]


def test_the_update_is_the_formula() -> None:
    p, g, mean, square = arrays(300)
    m = mean + (g.astype(float) - mean) * GAIN1
    v = square.astype(float) * BETA2 + g.astype(float) ** 2 * GAIN2
    expected = p * KEEP - RATE * m / (np.sqrt(v) / CORRECTION + EPSILON)
    kernels.adam_update(p, g, mean, square, *NUMBERS)
    for single, double in ((p, expected), (mean, m), (square, v)):
        np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-6)


def test_moments_that_fade_become_zero_and_not_denormal() -> None:
    p, g, mean, square = (np.full(4, value, np.float32) for value in (1.0, 0.0, 1e-37, 1e-37))
    kernels.adam_update(p, g, mean, square, *NUMBERS)
    assert (mean.max(), square.max()) == (0, 0)
    assert p.tolist() == pytest.approx([0.9] * 4)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_gradients_of_workers_are_added_up_and_zeroed(workers: int) -> None:
    count, first = 2500, 7  # more than two blocks
    p, _, mean, square = arrays(count)
    sums = np.random.default_rng(0).standard_normal((workers, first + count + 5)).astype(np.float32)
    outside = sums[:, :first].copy()
    gradient = np.zeros(count, np.float32)
    for row in sums:
        gradient += row[first : first + count]
    expected = [array.copy() for array in (p, mean, square)]
    kernels.adam_update(expected[0], gradient, *expected[1:], *NUMBERS)
    kernels.adam_update_sums(p, sums, first, mean, square, *NUMBERS)
    for one, other in zip((p, mean, square), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    assert not sums[:, first : first + count].any()
    assert np.array_equal(sums[:, :first], outside)
