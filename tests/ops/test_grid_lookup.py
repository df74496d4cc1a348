"""Features of grids in one pass: by hand, against the plain twin, both ways, and as a transpose."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import hash_grid
from alfilter.core.hash_grid import Layout
from alfilter.ops.grid_lookup import lookup


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_by_hand() -> None:
    """One cell, corners 0, 10, 100, 1000: a quarter along the first axis, half along the second."""
    table = torch.tensor([[0.0], [10.0], [100.0], [1000.0]])  # the last axis is fastest
    found = lookup(table, torch.tensor([[-0.5, 0.0]]), Layout.of([(1, 1)]), coordinates=True)
    assert found.tolist() == [[-0.5, 0.0, 0.375 * 0 + 0.375 * 10 + 0.125 * 100 + 0.125 * 1000]]


def test_a_node_without_a_row_counts_as_zero() -> None:
    table, nodes = torch.tensor([[8.0, 4.0]]), torch.tensor([-1, -1, -1, 0], dtype=torch.int32)
    found = lookup(table, torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]), Layout.of([(1, 1)]), nodes=nodes)
    assert found.tolist() == [[2.0, 1.0], [8.0, 4.0], [0.0, 0.0]]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("features", [1, 2, 3, 4])
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("snap", [0.0, 1e-3, 0.5])
def test_values_and_gradient_are_the_plain_ones(dims: int, features: int, mapped: bool, snap: float) -> None:
    layout = Layout.of([(2,) * dims, (5,) * dims, (40,) * dims, (0,) * dims], 64)
    generator = torch.Generator().manual_seed(5)
    nodes = torch.randint(-1, 9, (layout.total,), generator=generator, dtype=torch.int32) if mapped else None
    ends = torch.tensor([[-1.0], [1.0], [0.0], [1e30]]).expand(4, dims)
    x = torch.cat((numbers(300, dims) * 1.3, ends))  # more than a block, not a multiple of it
    found = []
    for function in (lambda t: lookup(t, x, layout, nodes=nodes, snap=snap, coordinates=True),
                     lambda t: hash_grid.lookup(t, x, layout, nodes, snap, True)):  # fmt: skip
        table = numbers(9 if mapped else layout.total, features, seed=1).requires_grad_()
        value = function(table)
        found.append((value, *torch.autograd.grad(value, table, numbers(*value.shape, seed=2))))
    for a, b in zip(*found, strict=True):
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
    found = lookup(numbers(25, 2), torch.tensor([[math.nan, 0.0], [0.0, 0.0]]), Layout.of([(4, 4)]))
    assert found.isnan().all(-1).tolist() == [True, False]


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_the_backward_is_the_transpose_of_the_forward(seed: int) -> None:
    """⟨G t, u⟩ = ⟨t, Gᵀ u⟩ for every table t and every gradient u."""
    layout = Layout.of([(3, 5), (20, 20)], 32)
    table, upstream = numbers(layout.total, 2, seed=seed + 1).requires_grad_(), numbers(30, 4, seed=seed + 2)
    value = lookup(table, numbers(30, 2, seed=seed), layout)
    (back,) = torch.autograd.grad(value, table, upstream)
    assert (value * upstream).sum().item() == pytest.approx((table * back).sum().item(), abs=1e-4)
