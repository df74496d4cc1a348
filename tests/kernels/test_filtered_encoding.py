"""The compiled filter against double precision."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.core import fourier
from alfilter.ops import filtered_encoding


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
