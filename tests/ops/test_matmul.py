"""Quick products are the products."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.kernels.dispatch import use_way
from alfilter.ops.matmul import linear, multiply, outer

SIZES = st.integers(1, 70)


@given(SIZES, SIZES, st.integers(1, 60), st.booleans(), st.sampled_from([torch.float32, torch.float64]))
def test_whatever_the_sizes(rows: int, wide: int, narrow: int, sliced: bool, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(rows * 5000 + wide * 70 + narrow)
    g = torch.randn(rows, wide, generator=generator, dtype=torch.float64)
    x = torch.randn(rows, narrow + 3, generator=generator, dtype=torch.float64)
    x = x[:, 1 : narrow + 1] if sliced else x[:, :narrow].contiguous()
    weight = torch.randn(wide, narrow, generator=generator, dtype=torch.float64)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-4}
    actual = outer(g.to(dtype), x.to(dtype))
    torch.testing.assert_close(actual.double(), torch.einsum("nw,nk->wk", g, x), **close)
    assert actual.is_contiguous(), "an optimiser reads it as one row of numbers"
    expected = torch.einsum("nw,wk->nk", g, weight)
    torch.testing.assert_close(multiply(g.to(dtype), weight.to(dtype)).double(), expected, **close)
    turned = weight.t().contiguous().to(dtype)
    torch.testing.assert_close(multiply(g.to(dtype), turned.t()).double(), expected, **close)


def test_the_library_multiplies_where_its_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = torch.randn(9, 5), torch.randn(5, 7)
    own = multiply(a, b)
    monkeypatch.setattr("alfilter.ops.matmul.load_kernels", pytest.fail)
    with use_way("layers"):
        torch.testing.assert_close(multiply(a, b), own, rtol=1e-5, atol=1e-5)


def test_weights_that_are_packed_for_few_rows_only_are_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    b = torch.randn(64, 80)
    few, many = torch.randn(1023, 64), torch.randn(1024, 64)
    torch.testing.assert_close(multiply(many, b), many @ b, rtol=1e-4, atol=1e-4)
    monkeypatch.setattr("alfilter.ops.matmul.load_kernels", pytest.fail)
    torch.testing.assert_close(multiply(few, b), few @ b)
    with pytest.raises(pytest.fail.Exception):
        multiply(many, b)
    with pytest.raises(pytest.fail.Exception):
        multiply(few, b[:, :8])


def test_nothing_is_read_or_written_beside() -> None:
    """A vector of eight at the edge of a matrix of three columns must stay within its rows."""
    padded = torch.full((5, 9), torch.nan)
    a, b = torch.randn(4, 3), torch.randn(3, 3)
    padded[:4, :3] = a
    torch.testing.assert_close(multiply(padded[:4, :3], b), a @ b)


def test_nan_and_infinity_reach_the_result() -> None:
    a = torch.tensor([[torch.nan, 1.0], [1.0, torch.inf]])
    result = multiply(a, torch.ones(2, 3))
    assert result[0].isnan().all()
    assert result[1].isinf().all()


@pytest.mark.parametrize("shape", [(0, 3, 4), (5, 3, 0)])
def test_empty(shape: tuple[int, int, int]) -> None:
    n, k, m = shape
    assert multiply(torch.ones(n, k), torch.ones(k, m)).shape == (n, m)


@pytest.mark.parametrize("shape", [(5,), (9, 5), (2, 3, 5), (0, 5)])
def test_a_linear_map_has_the_library_s_gradients(shape: tuple[int, ...]) -> None:
    x, weight = torch.randn(shape, requires_grad=True), torch.randn(7, 5, requires_grad=True)
    ours, theirs = linear(x, weight), torch.nn.functional.linear(x, weight)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    grad = torch.randn_like(theirs)
    for one, other in zip(
        torch.autograd.grad(ours, (x, weight), grad), torch.autograd.grad(theirs, (x, weight), grad), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("twice", [False, True])
def test_a_linear_map_computes_the_gradients_that_are_asked_for(twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight = torch.randn(9, 5, requires_grad=True), torch.randn(7, 5)
    out, expected = linear(x, weight), torch.nn.functional.linear(x, weight)
    monkeypatch.setattr("alfilter.ops.matmul.outer", pytest.fail)
    ours, theirs = (torch.autograd.grad(y.sum(), x, create_graph=twice)[0] for y in (out, expected))
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    monkeypatch.undo()
    by_weight = torch.autograd.grad(linear(x.detach(), weight.requires_grad_()).sum(), weight)[0]
    torch.testing.assert_close(by_weight, x.detach().sum(0).expand(7, 5), rtol=1e-5, atol=1e-5)


def test_a_linear_map_can_be_differentiated_twice() -> None:
    x, weight = torch.randn(4, 5, requires_grad=True), torch.randn(3, 5, requires_grad=True)
    by_x = torch.autograd.grad(linear(x, weight).sin().sum(), x, create_graph=True)[0]
    plain = torch.autograd.grad((x @ weight.t()).sin().sum(), x, create_graph=True)[0]
    ours, theirs = (torch.autograd.grad(g.square().sum(), (x, weight)) for g in (by_x, plain))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
