"""Packed products against NumPy: sizes around a panel and a vector, any strides."""

from __future__ import annotations

import numpy as np
import pytest

kernels = pytest.importorskip("alfilter.kernels.gemm", reason="needs numba")


@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 17, 40])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (5, 3), (13, 16), (200, 9)])
def test_products(m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(m * 100 + k * 10 + n)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    expected = a.astype(np.float64) @ b
    for left, right in ((a, b), (np.asfortranarray(a), np.asfortranarray(b))):
        out = np.full((m, n), np.nan, np.float32)
        kernels.matmul(left, right, out)
        np.testing.assert_allclose(out, expected, atol=1e-4)
