"""Weighted sums of rows: against the plain function, against interpolation, and their transpose."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import hash_grid
from alfilter.core.hash_grid import Layout
from alfilter.ops import interpolate
from alfilter.ops.grid_lookup import corners
from alfilter.ops.weighted_rows import weighted_rows


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_coordinates_that_are_no_numbers_stay_none() -> None:
    layout = Layout.of([(4, 4)], 16)
    x = torch.tensor([[math.nan, 0.0], [0.0, 0.0]])
    out = weighted_rows(numbers(25, 2)[: layout.total], *corners(x, layout))
    assert out.isnan().all(-1).flatten().tolist() == [True, False]


@pytest.mark.parametrize("cells", [(7,), (4, 6), (3, 1, 5), (2, 3, 2, 1)])
def test_a_dense_level_is_plain_interpolation(cells: tuple[int, ...]) -> None:
    layout = Layout.of([cells], 1 << 12)
    grid, x = numbers(layout.total, 3), numbers(100, len(cells), seed=2) * 1.2
    actual = weighted_rows(grid, *corners(x, layout)).squeeze(-2)
    expected = interpolate(grid.view(*(n + 1 for n in cells), 3), x)
    torch.testing.assert_close(actual, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("features", [1, 2, 5])
def test_weighted_rows_and_their_gradient_are_the_plain_ones(features: int) -> None:
    index = torch.randint(-1, 9, (4, 25, 6), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    weight, upstream = numbers(4, 25, 6), numbers(4, 25, features, seed=3)
    results = []
    for function in (weighted_rows, hash_grid.weighted_rows):
        table = numbers(9, features, seed=4).requires_grad_()
        value = function(table, index, weight)
        results.append((value, *torch.autograd.grad(value, table, upstream)))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_the_scatter_is_the_transpose_of_the_gather(seed: int) -> None:
    """⟨G t, u⟩ = ⟨t, Gᵀ u⟩ for every table t and every gradient u."""
    layout = Layout.of([(3, 3), (20, 20)], 32)
    index, weight = corners(numbers(30, 2, seed=seed), layout)
    table, upstream = numbers(layout.total, 2, seed=seed + 1).requires_grad_(), numbers(30, 2, 2, seed=seed + 2)
    value = weighted_rows(table, index, weight)
    (back,) = torch.autograd.grad(value, table, upstream)
    assert (value * upstream).sum().item() == pytest.approx((table * back).sum().item(), abs=1e-4)
