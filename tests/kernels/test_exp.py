"""e^x in single precision: its accuracy, and what is beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="needs numba")


@pytest.fixture(scope="module")
def exponential() -> Any:
    from alfilter.kernels.exp import exp

    @numba.njit
    def each(x: Any, out: Any) -> None:
        for i in range(len(x)):
            out[i] = exp(x[i])

    def run(x: np.ndarray) -> np.ndarray:
        out = np.empty_like(x)
        each(x, out)
        return out

    return run


def test_accuracy(exponential: Any) -> None:
    x = np.linspace(-86.9, 87.9, 200_001).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(exponential(x) / exact - 1).max() < 3e-7


def test_the_ends(exponential: Any) -> None:
    x = np.array([-88.0, -np.inf, 0.0, np.nan], np.float32)
    below, lowest, one, lost = exponential(x)
    assert (below, lowest, one) == (0.0, 0.0, 1.0)
    assert np.isnan(lost)
