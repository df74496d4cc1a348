"""γ'(x): by hand, the equation, compiled against plain, and differentiated."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references
from torch.autograd import gradcheck, gradgradcheck

from alfilter.core import fourier
from alfilter.ops import filtered_encoding

POINTS = st.lists(st.floats(-1, 1), min_size=1, max_size=4)


def rows(count: int, dims: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.rand(count, dims, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 2 - 1).to(dtype)


def test_filtered_by_hand() -> None:
    """x = 1/6, L = 2, and the band of `test_filter.test_band_by_hand`: 0.4, 0.5, 0.4, 3/14."""
    x, alpha = torch.tensor([[1 / 6]], dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64)
    got = filtered_encoding(x, alpha, levels=2, bandwidth=2.0, kappa=math.log(3))
    root = math.sqrt(3) / 2
    assert got[0].tolist() == pytest.approx([0.4 * 0.5, 0.5 * root, 0.4 * root, 3 / 14 * 0.5], rel=1e-14)


@settings(max_examples=60)
@given(POINTS, st.floats(-20, 60), st.integers(1, 8), st.floats(0.25, 40), st.floats(0.1, 20))
def test_filtered_is_the_equation(x: list[float], alpha: float, levels: int, bandwidth: float, kappa: float) -> None:
    """In float64 by plain tensor code, in float32 by the compiled kernel, both from the same numbers."""
    place, centre = torch.tensor([x]), torch.tensor([alpha])
    expected = references.filtered_encoding(place[0].tolist(), centre.item(), levels, bandwidth, kappa)
    double = filtered_encoding(place.double(), centre.double(), levels, bandwidth, kappa)
    single = filtered_encoding(place, centre, levels, bandwidth, kappa)
    assert double[0].tolist() == pytest.approx(expected, abs=1e-11)
    assert single[0].tolist() == pytest.approx(expected, abs=1e-4)  # float32 angles up to 2^7 π


@pytest.mark.parametrize("kappa", [0.05, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("bandwidth", [0.5, 4.0, 20.0])
def test_compiled_and_plain_agree_in_values_and_slopes(bandwidth: float, kappa: float) -> None:
    """Edges on channels, between them, and bands that leave the axis."""
    alpha = torch.tensor([16.0, 15.5, 0.0, -9.99, 31.0, 40.0, 6.25, -100.0, 1e6]).requires_grad_()
    x = rows(len(alpha), 2)
    outputs = [f(x, alpha, 8, bandwidth, kappa) for f in (filtered_encoding, fourier.filtered_encoding)]
    torch.testing.assert_close(*outputs, rtol=0, atol=5e-5)
    weights = rows(len(alpha), 32)
    slopes = [torch.autograd.grad((out * weights).sum(), alpha)[0] for out in outputs]
    torch.testing.assert_close(*slopes, rtol=2e-3, atol=2e-4 * max(1.0, kappa))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", [1e4, -1e4, 1e30, -1e30])
def test_extreme_alpha_passes_nothing_and_pulls_nowhere(alpha: float, dtype: torch.dtype) -> None:
    centre = torch.full((3,), alpha, dtype=dtype, requires_grad=True)
    got = filtered_encoding(rows(3, 2, dtype), centre, 8, 20.0, 10.0)
    (slope,) = torch.autograd.grad(got.sum(), centre)
    assert got.abs().max().item() == 0
    assert slope.abs().max().item() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nan_is_not_swallowed(dtype: torch.dtype) -> None:
    centre = torch.tensor([math.nan, 3.0], dtype=dtype)
    got = filtered_encoding(rows(2, 2, dtype), centre, 4, 4.0, 10.0).isnan().any(-1)
    assert got.tolist() == [True, False]


def test_one_alpha_for_all_points() -> None:
    x = rows(6, 2)
    one, each = (filtered_encoding(x, a, 3, 4.0, 10.0) for a in (torch.tensor(2.5), torch.full((6,), 2.5)))
    torch.testing.assert_close(one, each, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,), (2, 0)])
def test_filtered_keeps_the_batch(batch: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.zeros(*batch, 3, dtype=dtype)
    assert filtered_encoding(x, x[..., 0], 4, 20.0, 10.0).shape == (*batch, 24)


def test_filtered_derivatives() -> None:
    x = rows(4, 2, torch.float64).requires_grad_()
    alpha = torch.tensor([6.0, 4.0, 1.3, -1.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda p, a: filtered_encoding(p, a, 3, 4.0, 2.0), (x, alpha))
    assert gradgradcheck(lambda p, a: filtered_encoding(p, a, 3, 4.0, 2.0), (x, alpha))


def test_compiled_path_has_second_derivatives() -> None:
    alpha, x = torch.tensor([6.0, 4.0, 1.3, -1.0], requires_grad=True), rows(4, 2)
    bends = []
    for function, dtype in ((filtered_encoding, torch.float32), (fourier.filtered_encoding, torch.float64)):
        out = function(x.to(dtype), alpha.to(dtype), 3, 4.0, 2.0)
        (slope,) = torch.autograd.grad(out.pow(2).sum(), alpha, create_graph=True)
        bends.append(torch.autograd.grad(slope.pow(2).sum(), alpha)[0])
    torch.testing.assert_close(*bends, rtol=1e-3, atol=1e-4)
