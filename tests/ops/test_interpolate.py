"""Interpolation: by hand, against loops and torch's own, at the nodes, outside, and differentiated."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional as F

from alfilter import core
from alfilter.errors import UserError
from alfilter.ops import interpolate

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)

BOTH = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["compiled", "plain"])


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return (torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1).to(dtype)


def nodes(shape: tuple[int, ...]) -> Tensor:
    """Coordinates of all nodes of a grid, float64."""
    axes = [[2 * i / (n - 1) - 1 if n > 1 else 0.0 for i in range(n)] for n in shape]
    return torch.tensor(list(product(*axes)), dtype=torch.float64)


@BOTH
def test_two_axes_by_hand(dtype: torch.dtype) -> None:
    """Rows 0 and 10, columns 0, 1, 2; coordinate 0 runs along the rows: (0.5, -0.5) is at row 0.75, column 0.5."""
    grid = torch.tensor([[[0.0], [1.0], [2.0]], [[10.0], [11.0], [12.0]]], dtype=dtype)
    x = torch.tensor([[0.5, -0.5], [-1.0, 1.0], [0.0, 0.0]], dtype=dtype)
    assert interpolate(grid, x).squeeze(-1).tolist() == [8.0, 2.0, 6.0]


@settings(max_examples=60)
@given(SHAPES, st.integers(1, 3), st.integers(0, 1000))
def test_against_loops(shape: tuple[int, ...], features: int, seed: int) -> None:
    """Points inside and outside, one to four axes, axes with one node; one feature takes the kernel in float32."""
    grid = numbers(*shape, features, seed=seed)
    x = numbers(6, len(shape), seed=seed + 1) * 1.5
    expected = torch.tensor([references.interpolate(grid.tolist(), row) for row in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(interpolate(grid, x), expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(interpolate(grid.float(), x.float()).double(), expected, rtol=0, atol=5e-6)


@BOTH
@pytest.mark.parametrize("shape", [(7, 5), (1, 4), (4, 6, 3), (2, 1, 5)])
def test_against_torchs_grid_sample(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    dims = len(shape)
    grid, x = numbers(*shape, 1, dtype=dtype), numbers(50, dims, seed=1, dtype=dtype) * 1.3
    sampled = F.grid_sample(
        grid.movedim(-1, 0)[None],  # (1, F, *shape)
        x.flip(-1).view(1, 50, *[1] * (dims - 1), dims),  # it counts coordinates from the last axis
        align_corners=True,
        padding_mode="border",
    )
    tolerance = 1e-12 if dtype == torch.float64 else 2e-6
    torch.testing.assert_close(interpolate(grid, x), sampled.view(50, 1), rtol=0, atol=tolerance)


@BOTH
@pytest.mark.parametrize("shape", [(9,), (5, 3), (3, 2, 5), (2, 3, 2, 3)])
def test_nodes_are_met_exactly(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    grid = numbers(*shape, 1, dtype=dtype)  # sizes 2^k + 1, whose nodes are exact numbers
    assert torch.equal(interpolate(grid, nodes(shape).to(dtype)), grid.view(-1, 1))


@settings(max_examples=40)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=4).map(tuple), st.integers(0, 1000))
def test_affine_functions_are_reproduced(shape: tuple[int, ...], seed: int) -> None:
    slope, x = numbers(len(shape), seed=seed), numbers(10, len(shape), seed=seed + 1)
    grid = (nodes(shape) @ slope + 0.25).view(*shape, 1)
    torch.testing.assert_close(interpolate(grid, x).squeeze(-1), x @ slope + 0.25, rtol=0, atol=1e-13)


@BOTH
@settings(max_examples=40)
@given(shape=SHAPES, seed=st.integers(0, 1000))
def test_never_beyond_the_nodes(shape: tuple[int, ...], seed: int, dtype: torch.dtype) -> None:
    grid = numbers(*shape, 1, seed=seed, dtype=dtype)
    got = interpolate(grid, numbers(20, len(shape), seed=seed + 1, dtype=dtype) * 2)
    slack = 1e-6
    assert grid.min() - slack <= got.min()
    assert got.max() <= grid.max() + slack


@BOTH
def test_outside_is_the_border(dtype: torch.dtype) -> None:
    grid = numbers(4, 3, 1, dtype=dtype)
    outside = torch.tensor([[-7.0, 0.3], [1e30, -1e30], [0.1, math.inf]], dtype=dtype)
    assert torch.equal(interpolate(grid, outside), interpolate(grid, outside.clamp(-1, 1)))


@BOTH
def test_one_node_is_a_constant(dtype: torch.dtype) -> None:
    grid = torch.full((1, 1, 1, 1), 0.7, dtype=dtype)
    assert torch.equal(interpolate(grid, numbers(9, 3, dtype=dtype)), torch.full((9, 1), 0.7, dtype=dtype))


@BOTH
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nan_coordinates_give_nan(dims: int, dtype: torch.dtype) -> None:
    x = torch.zeros(2, dims, dtype=dtype)
    x[0] = math.nan
    grid = numbers(*[3] * dims, 1, dtype=dtype).requires_grad_()
    got = interpolate(grid, x)
    assert got.isnan().flatten().tolist() == [True, False]
    (slope,) = torch.autograd.grad(got.sum(), grid)
    assert bool(slope.isnan().any())


@BOTH
@pytest.mark.parametrize("features", [1, 2])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,), (2, 0)])
def test_batches(batch: tuple[int, ...], features: int, dtype: torch.dtype) -> None:
    grid = numbers(3, 4, features, dtype=dtype)
    assert interpolate(grid, torch.zeros(*batch, 2, dtype=dtype)).shape == (*batch, features)


def test_strided_grids() -> None:
    grid = numbers(4, 6, 1, dtype=torch.float32)
    strided, x = grid.transpose(0, 1).contiguous().transpose(0, 1), numbers(9, 2, seed=1, dtype=torch.float32)
    assert torch.equal(interpolate(strided, x), interpolate(grid, x))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 3), (2, 3, 2), (2, 2, 2, 3)])
def test_derivatives(shape: tuple[int, ...]) -> None:
    grid = numbers(*shape, 2).requires_grad_()
    x = (numbers(4, len(shape), seed=3) * 0.9).requires_grad_()
    assert gradcheck(interpolate, (grid, x))
    assert gradgradcheck(interpolate, (grid, x))


def test_slope_at_the_ends_is_that_of_the_cell_inside() -> None:
    x = torch.tensor([[-1.0], [1.0], [1.5]], dtype=torch.float64, requires_grad=True)
    grid = torch.tensor([[0.0], [1.0], [4.0]], dtype=torch.float64)
    (slope,) = torch.autograd.grad(interpolate(grid, x).sum(), x)
    assert slope.flatten().tolist() == [1.0, 3.0, 0.0]


def test_mixed_second_derivative_by_hand() -> None:
    """On one cell f = … + (a00 - a01 - a10 + a11) u v with u = (x+1)/2, so ∂²f/∂x∂y is a quarter of the bracket."""
    grid = torch.tensor([[[1.0], [2.0]], [[5.0], [20.0]]], dtype=torch.float64)
    x = torch.tensor([0.3, -0.2], dtype=torch.float64)
    hessian = torch.func.hessian(lambda p: interpolate(grid, p).sum())(x)
    torch.testing.assert_close(hessian, torch.tensor([[0, 3.5], [3.5, 0]], dtype=torch.float64))


@pytest.mark.parametrize("shape", [(5,), (3, 4), (1, 3), (2, 3, 2), (2, 2, 2, 3)])
def test_compiled_and_plain_agree_in_gradients(shape: tuple[int, ...]) -> None:
    grid = numbers(*shape, 1, dtype=torch.float32).requires_grad_()
    x = numbers(30, len(shape), seed=2, dtype=torch.float32) * 1.2
    weights = numbers(30, 1, seed=4, dtype=torch.float32)
    results = []
    for function in (interpolate, core.interpolate):
        out = function(grid, x)
        (first,) = torch.autograd.grad((out.pow(3) * weights).sum(), grid, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), grid)
        results.append((first.detach(), second))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


def test_gradient_in_the_grid_is_the_weights() -> None:
    """The weights of a point's corners add up to one, so the gradient of n values sums to n."""
    grid = numbers(4, 4, 1, dtype=torch.float32).requires_grad_()
    (gradient,) = torch.autograd.grad(interpolate(grid, numbers(25, 2, dtype=torch.float32)).sum(), grid)
    assert gradient.sum().item() == pytest.approx(25, rel=1e-5)


def test_wrong_grid_is_explained() -> None:
    with pytest.raises(UserError, match=r"a grid for 2 coordinates has 3 axes .* got \(3, 3\)"):
        interpolate(torch.zeros(3, 3), torch.zeros(5, 2))
