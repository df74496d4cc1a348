"""The compiled kernels against double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.core import fourier
from alfilter.kernels import elementwise as kernels
from alfilter.ops import filtered_encoding, interpolate


def sine_and_slope(angles: np.ndarray, omega: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    z = angles.astype(np.float32).reshape(1, -1).copy()
    slope = np.empty_like(z)
    kernels.sine_forward(z, np.zeros(z.shape[1], np.float32), np.float32(omega), slope)
    return z[0], slope[0]


def test_sine_and_cosine_over_ten_thousand() -> None:
    angles = np.random.default_rng(0).uniform(-1e4, 1e4, 200_000).astype(np.float32)
    sine, cosine = sine_and_slope(angles)
    exact = angles.astype(np.float64)
    assert np.abs(sine - np.sin(exact)).max() < 3e-7
    assert np.abs(cosine - np.cos(exact)).max() < 3e-7


def test_quarter_turns() -> None:
    sine, cosine = sine_and_slope(np.arange(-4, 5) * np.pi / 2)
    assert np.round(sine).tolist() == [0, 1, 0, -1, 0, 1, 0, -1, 0]
    assert np.round(cosine).tolist() == [1, 0, -1, 0, 1, 0, -1, 0, 1]


def test_no_number_stays_none() -> None:
    sine, cosine = sine_and_slope(np.array([np.nan, np.inf, -np.inf]))
    assert np.isnan(sine).all()
    assert np.isnan(cosine).all()


def test_backward_scales_and_sums_by_hand() -> None:
    slope = np.array([[1, 0, 2], [3, -1, 1]], np.float32)
    grad, sums = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.zeros(3, np.float32)
    kernels.sine_backward(grad, slope, sums)
    assert grad.tolist() == [[1, 0, 6], [12, -5, 6]]
    assert sums.tolist() == [13, -5, 12]
    grad, sums = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.zeros(3, np.float32)
    kernels.relu_backward(grad, slope, sums)
    assert grad.tolist() == [[1, 0, 3], [4, 0, 6]]
    assert sums.tolist() == [5, 0, 9]


@pytest.mark.parametrize("kappa", [0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0])
@pytest.mark.parametrize("bandwidth", [1.0, 20.0])
def test_filter_against_double(kappa: float, bandwidth: float) -> None:
    draw = torch.Generator().manual_seed(0)
    x = torch.rand(400, 2, generator=draw) * 2 - 1
    alpha = (torch.rand(400, generator=draw) * 80 - 24).requires_grad_()  # far outside the 32 channels on both sides
    upstream = torch.randn(400, 32, generator=draw)
    value = filtered_encoding(x, alpha, 8, bandwidth, kappa)
    (grad,) = torch.autograd.grad(value, alpha, upstream)
    double = alpha.detach().double().requires_grad_()
    # the angles are those of single precision: what is compared is the filter and the sine, not the rounding of 2^j π x
    reference = fourier.filtered_encoding(x.double(), double, 8, bandwidth, kappa)
    (exact,) = torch.autograd.grad(reference, double, upstream.double())
    assert float((value - reference).detach().abs().max()) < 5e-5
    assert float((grad - exact).abs().max()) < 2e-4 * max(1.0, kappa)


@given(alpha=st.floats(-1e4, 1e4), kappa=st.floats(0.1, 100.0), bandwidth=st.floats(0.1, 100.0))
@settings(max_examples=60, deadline=None)
def test_filter_never_leaves_its_bounds(alpha: float, kappa: float, bandwidth: float) -> None:
    x, centre = torch.tensor([[0.3, -0.7]]), torch.tensor([alpha], requires_grad=True)
    value = filtered_encoding(x, centre, 8, bandwidth, kappa)
    (grad,) = torch.autograd.grad(value.sum(), centre)
    assert bool(value.isfinite().all())
    assert float(value.detach().abs().max()) <= 1.000001
    assert bool(grad.isfinite().all())


@pytest.mark.parametrize("shape", [(7,), (5, 9), (4, 1, 6)])
def test_interpolation_against_plain(shape: tuple[int, ...]) -> None:
    draw = torch.Generator().manual_seed(0)
    grid = torch.randn(*shape, 1, generator=draw).requires_grad_()
    x = torch.rand(100, len(shape), generator=draw) * 2.4 - 1.2  # beyond the border too
    found = []
    for function in (interpolate, grid.interpolate):
        value = function(grid, x)
        found.append((value, *torch.autograd.grad(value.square().sum(), grid)))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
