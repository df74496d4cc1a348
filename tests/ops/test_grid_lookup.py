"""Features of grids in one pass: by hand, against the plain twin, both ways, and as a transpose."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import hash_grid, level_filter
from alfilter.core.hash_grid import Layout
from alfilter.ops.grid_lookup import filtered_lookup, lookup


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_by_hand() -> None:
    """One cell, corners 0, 10, 100, 1000: a quarter along the first axis, half along the second."""
    table = torch.tensor([[0.0], [10.0], [100.0], [1000.0]])  # the last axis is fastest
    result = lookup(table, torch.tensor([[-0.5, 0.0]]), Layout.of([(1, 1)]), coordinates=True)
    assert result.tolist() == [[-0.5, 0.0, 0.375 * 0 + 0.375 * 10 + 0.125 * 100 + 0.125 * 1000]]


def test_a_node_without_a_row_counts_as_zero() -> None:
    table, nodes = torch.tensor([[8.0, 4.0]]), torch.tensor([-1, -1, -1, 0], dtype=torch.int32)
    result = lookup(table, torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]), Layout.of([(1, 1)]), nodes=nodes)
    assert result.tolist() == [[2.0, 1.0], [8.0, 4.0], [0.0, 0.0]]


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("features", [1, 2, 3, 4, 8, 13])
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("snap", [0.0, 1e-3, 0.5])
def test_values_and_gradient_are_the_plain_ones(dims: int, features: int, mapped: bool, snap: float) -> None:
    layout = Layout.of([(2,) * dims, (5,) * dims, (40,) * dims, (0,) * dims], 64)
    generator = torch.Generator().manual_seed(5)
    nodes = torch.randint(-1, 9, (layout.total,), generator=generator, dtype=torch.int32) if mapped else None
    ends = torch.tensor([[-1.0], [1.0], [0.0], [1e30]]).expand(4, dims)
    x = torch.cat((numbers(300, dims) * 1.3, ends))  # more than a block, not a multiple of it
    results = []
    for function in (lambda t: lookup(t, x, layout, nodes=nodes, snap=snap, coordinates=True),
                     lambda t: hash_grid.lookup(t, x, layout, nodes, snap, True)):  # fmt: skip
        table = numbers(9 if mapped else layout.total, features, seed=1).requires_grad_()
        value = function(table)
        results.append((value, *torch.autograd.grad(value, table, numbers(*value.shape, seed=2))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-4)


def test_second_derivatives_take_the_plain_path() -> None:
    layout, x = Layout.of([(3, 3)]), numbers(10, 2)
    table = numbers(16, 2).requires_grad_()
    (first,) = torch.autograd.grad(lookup(table, x, layout).square().sum(), table, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), table)
    (expected,) = torch.autograd.grad(hash_grid.lookup(table, x, layout, None, 0.0, False).square().sum(), table,
                                      create_graph=True)  # fmt: skip
    torch.testing.assert_close(second, torch.autograd.grad(expected.sum(), table)[0])


def test_coordinates_that_are_no_numbers_stay_none() -> None:
    result = lookup(numbers(25, 2), torch.tensor([[math.nan, 0.0], [0.0, 0.0]]), Layout.of([(4, 4)]))
    assert result.isnan().all(-1).tolist() == [True, False]


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_the_backward_is_the_transpose_of_the_forward(seed: int) -> None:
    """⟨G t, u⟩ = ⟨t, Gᵀ u⟩ for every table t and every gradient u."""
    layout = Layout.of([(3, 5), (20, 20)], 32)
    table, upstream = numbers(layout.total, 2, seed=seed + 1).requires_grad_(), numbers(30, 4, seed=seed + 2)
    value = lookup(table, numbers(30, 2, seed=seed), layout)
    (back,) = torch.autograd.grad(value, table, upstream)
    assert (value * upstream).sum().item() == pytest.approx((table * back).sum().item(), abs=1e-4)


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("features", [1, 2, 5])
@pytest.mark.parametrize("kappa", [0.5, 2.0, 40.0])
def test_filtered_values_and_gradients_are_the_plain_ones(dims: int, features: int, kappa: float) -> None:
    layout = Layout.of([(2,) * dims, (5,) * dims, (40,) * dims], 64)
    x, level = numbers(301, dims) * 1.2, numbers(301, seed=3) * 6  # far below the first level to far above the last
    results = []
    for function in (filtered_lookup, level_filter.filtered_lookup):
        table, alpha = numbers(layout.total, features, seed=1).requires_grad_(), level.clone().requires_grad_()
        value = function(table, x, alpha, layout, kappa, coordinates=True)
        results.append((value, *torch.autograd.grad(value, (table, alpha), numbers(*value.shape, seed=2))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5 * max(1.0, kappa))


def test_filtered_lookup_by_hand() -> None:
    """Half way between 1 and 3, on the edge of the only level: half of 2."""
    result = filtered_lookup(
        torch.tensor([[1.0], [3.0]]), torch.zeros(1, 1), torch.tensor([-0.5]), Layout.of([(1,)]), 7.0
    )
    assert result.item() == 1.0


def test_filtered_lookup_differentiates_twice_and_in_x() -> None:
    layout, x = Layout.of([(3, 3), (6, 6)]), numbers(10, 2, seed=4).double()
    table, alpha = numbers(layout.total, 2).double().requires_grad_(), (numbers(10, seed=5) + 1).double()
    inputs = table, x.requires_grad_(), alpha.requires_grad_()
    assert torch.autograd.gradcheck(lambda t, x, a: filtered_lookup(t, x, a, layout, 2.0), inputs)
    single = [t.detach().float().requires_grad_() for t in (table, alpha)]
    value = filtered_lookup(single[0], x.detach().float(), single[1], layout, 2.0)
    (first,) = torch.autograd.grad(value.square().sum(), single[1], create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), single[1])
    plain = level_filter.filtered_lookup(single[0], x.detach().float(), single[1], layout, 2.0)
    (expected,) = torch.autograd.grad(plain.square().sum(), single[1], create_graph=True)
    torch.testing.assert_close(second, torch.autograd.grad(expected.sum(), single[1])[0])


def test_alpha_that_is_no_number_stays_none() -> None:
    alpha = torch.tensor([math.nan, 1.0])
    assert filtered_lookup(numbers(25, 2), numbers(2, 2), alpha, Layout.of([(4, 4)]), 2.0).isnan().all(-1).tolist() == [
        True,
        False,
    ]
