"""Corners, gathers and scatters against the plain functions of `core.hash_grid`."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.core import hash_grid as equations

kernels = pytest.importorskip("alfilter.kernels.gather_scatter", reason="needs numba")


@pytest.mark.parametrize("features", [1, 2, 3])
def test_gather_and_its_transpose(features: int) -> None:
    rng = np.random.default_rng(features)
    table = rng.standard_normal((9, features)).astype(np.float32)
    index, weight = rng.integers(-1, 9, (20, 4)).astype(np.int32), rng.standard_normal((20, 4)).astype(np.float32)
    out, grad = np.empty((20, features), np.float32), rng.standard_normal((20, features)).astype(np.float32)
    kernels.gather(table, index, weight, out)
    rows = torch.from_numpy(table).requires_grad_()
    expected = equations.weighted_rows(rows, torch.from_numpy(index), torch.from_numpy(weight))
    torch.testing.assert_close(torch.from_numpy(out), expected.detach())
    sums = np.ones_like(table)
    kernels.scatter(grad, index, weight, sums)
    (gradient,) = torch.autograd.grad(expected, rows, torch.from_numpy(grad))
    torch.testing.assert_close(torch.from_numpy(sums), 1 + gradient)
