"""H_B(α): by hand, against exact decimals, as properties, and differentiated."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from alfilter.core import band_response, scale_response, stable_sigmoid

ALPHAS = st.floats(-60, 100)
BANDWIDTHS = st.floats(0.25, 40)
KAPPAS = st.floats(0.1, 20)
EXTREMES = (1e4, -1e4, 1e30, -1e30, math.inf, -math.inf)


def response(alpha: float, channels: int, bandwidth: float, kappa: float) -> Tensor:
    return band_response(torch.tensor(alpha, dtype=torch.float64), channels, bandwidth, kappa)


# ── the sigmoid ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sigmoid_by_hand() -> None:
    x = torch.tensor([-math.log(3), 0.0, math.log(3)], dtype=torch.float64)
    assert stable_sigmoid(x).tolist() == pytest.approx([0.25, 0.5, 0.75], rel=1e-15)


def test_sigmoid_is_torchs() -> None:
    x = torch.linspace(-30, 30, 241, dtype=torch.float64)
    torch.testing.assert_close(stable_sigmoid(x), torch.sigmoid(x), rtol=1e-14, atol=0)


def test_sigmoid_below_float32s_overflow_of_the_naive_form() -> None:
    assert stable_sigmoid(torch.tensor(-100.0)).item() == pytest.approx(math.exp(-100), rel=0.1)  # a subnormal


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sigmoid_slope_at_zero_is_a_quarter(dtype: torch.dtype) -> None:
    x = torch.tensor([-1e-9, 0.0, 1e-9], dtype=dtype, requires_grad=True)
    (slope,) = torch.autograd.grad(stable_sigmoid(x).sum(), x)
    assert slope.tolist() == pytest.approx([0.25] * 3, rel=1e-6)


@given(st.floats(-700, 700))
def test_sigmoid_and_its_mirror_make_one(x: float) -> None:
    pair = stable_sigmoid(torch.tensor([x, -x], dtype=torch.float64))
    assert pair.sum().item() == pytest.approx(1, rel=1e-15)


def test_sigmoid_derivatives() -> None:
    x = torch.tensor([-20.0, -0.5, 0.0, 0.5, 20.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(stable_sigmoid, x)
    assert gradgradcheck(stable_sigmoid, x)


# ── the band ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_band_by_hand() -> None:
    """α = 1, B = 2, κ = ln 3: the edges sit on channels 0 and 2, so σ takes the values 1/4, 1/2, 3/4, 9/10, 27/28."""
    got = response(1.0, 4, bandwidth=2.0, kappa=math.log(3)).tolist()
    assert got == pytest.approx([1 / 2 - 1 / 10, 3 / 4 - 1 / 4, 9 / 10 - 1 / 2, 27 / 28 - 3 / 4], rel=1e-14)


@settings(max_examples=60)
@given(ALPHAS, st.integers(1, 40), BANDWIDTHS, KAPPAS)
def test_band_is_the_difference_of_two_sigmoids(alpha: float, channels: int, bandwidth: float, kappa: float) -> None:
    expected = references.band_response(alpha, channels, bandwidth, kappa)
    assert response(alpha, channels, bandwidth, kappa).tolist() == pytest.approx(expected, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("alpha", [-14.0, 0.3, 15.5, 31.0, 45.25])
def test_band_keeps_its_relative_accuracy_in_the_tails(alpha: float) -> None:
    """A plain difference of float64 sigmoids is all rounding error beyond e^-36; the product form is not."""
    expected = references.exact_band_response(alpha, 32, bandwidth=4.0, kappa=10.0)
    assert response(alpha, 32, 4.0, 10.0).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_band_in_float32_is_the_band_in_float64() -> None:
    alpha = torch.linspace(-5, 37, 101)
    single, double = (band_response(a, 32, 20.0, 10.0) for a in (alpha, alpha.double()))
    torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-6)


@settings(max_examples=60)
@given(ALPHAS, BANDWIDTHS, KAPPAS)
def test_band_lies_between_zero_and_one(alpha: float, bandwidth: float, kappa: float) -> None:
    got = response(alpha, 40, bandwidth, kappa)
    assert bool(((got >= 0) & (got <= math.tanh(kappa * bandwidth / 4) + 1e-15)).all())  # the peak, at c = α


@settings(max_examples=60)
@given(st.integers(0, 80), BANDWIDTHS, KAPPAS)
def test_band_is_symmetric_about_alpha(twice: int, bandwidth: float, kappa: float) -> None:
    got = response(twice / 2, twice + 1, bandwidth, kappa)  # α in the middle of the channels
    torch.testing.assert_close(got, got.flip(0), rtol=1e-12, atol=0)


@settings(max_examples=60)
@given(st.floats(-5, 45), BANDWIDTHS, KAPPAS)
def test_band_falls_on_both_sides(alpha: float, bandwidth: float, kappa: float) -> None:
    got = response(alpha, 41, bandwidth, kappa)
    away = (torch.arange(41) - alpha).abs()
    order = got[away.argsort()]
    assert bool((order.diff() <= 1e-15).all()), "a channel further from α responds more"


@given(st.floats(-5, 45))
def test_a_wider_band_passes_more(alpha: float) -> None:
    assert bool((response(alpha, 40, 6.0, 10.0) >= response(alpha, 40, 4.0, 10.0)).all())


def test_half_a_band_from_alpha_the_response_is_a_half() -> None:
    got = response(16.0, 32, 20.0, 10.0)
    assert got[[6, 26]].tolist() == pytest.approx([0.5, 0.5], rel=1e-15)


@pytest.mark.parametrize(
    ("alpha", "passed"),
    [(0.0, range(4)), (15.5, range(12, 20)), (31.0, range(28, 32))],
    ids=["low-pass", "band-pass", "high-pass"],
)
def test_what_passes_where(alpha: float, passed: range) -> None:
    got = response(alpha, 32, bandwidth=8.0, kappa=50.0)
    whole = (torch.arange(32) - alpha).abs() != 4  # an edge itself passes half
    expected = torch.tensor([float(c in passed) for c in range(32)], dtype=torch.float64)
    torch.testing.assert_close(got[whole], expected[whole], rtol=0, atol=1e-10)


def test_a_sharp_band_is_a_box() -> None:
    assert response(10.2, 32, 6.0, 1e6).tolist() == [float(abs(c - 10.2) < 3) for c in range(32)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", EXTREMES)
def test_extreme_alpha_passes_nothing_and_pulls_nowhere(alpha: float, dtype: torch.dtype) -> None:
    place = torch.tensor([alpha], dtype=dtype, requires_grad=True)
    got = band_response(place, 32, 20.0, 10.0)
    (slope,) = torch.autograd.grad(got.sum(), place, create_graph=True)
    (bend,) = torch.autograd.grad(slope, place, allow_unused=True)
    assert got.tolist() == [[0.0] * 32]
    assert slope.item() == 0
    assert bend is None or bend.item() == 0


def test_nan_is_not_swallowed() -> None:
    assert bool(response(math.nan, 3, 2.0, 1.0).isnan().all())


def test_band_derivatives() -> None:
    """α on an edge (16 ± 10 with B = 20), beside it, and outside the channels."""
    alpha = torch.tensor([16.0, 15.9, 0.0, -3.0, 31.4], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda a: band_response(a, 32, 20.0, 1.5), alpha)
    assert gradgradcheck(lambda a: band_response(a, 32, 20.0, 1.5), alpha)


def test_band_slope_on_the_edge_by_hand() -> None:
    """∂H/∂α = -κσ'(0) on the rising and +κσ'(0) on the falling edge, up to the other edge's e^-κB."""
    alpha = torch.tensor(16.0, requires_grad=True)
    got = band_response(alpha, 32, 20.0, 10.0)
    slopes = [torch.autograd.grad(got[c], alpha, retain_graph=True)[0].item() for c in (6, 16, 26)]
    assert slopes == pytest.approx([-2.5, 0.0, 2.5], abs=1e-6)


# ── the scales ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_scales_by_hand() -> None:
    """The channels of `test_band_by_hand` in pairs: (0.4+0.5)/2 and (0.4+3/14)/2."""
    alpha = torch.tensor(1.0, dtype=torch.float64)
    got = scale_response(alpha, in_dim=1, levels=2, bandwidth=2.0, kappa=math.log(3))
    assert got.tolist() == pytest.approx([0.45, (0.4 + 3 / 14) / 2], rel=1e-14)


@settings(max_examples=40)
@given(ALPHAS, st.integers(1, 4), st.integers(1, 8), BANDWIDTHS, KAPPAS)
def test_scales_are_means(alpha: float, in_dim: int, levels: int, bandwidth: float, kappa: float) -> None:
    got = scale_response(torch.tensor(alpha, dtype=torch.float64), in_dim, levels, bandwidth, kappa)
    expected = references.scale_response(alpha, in_dim, levels, bandwidth, kappa)
    assert got.tolist() == pytest.approx(expected, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
def test_scales_keep_the_batch(batch: tuple[int, ...]) -> None:
    assert scale_response(torch.zeros(batch), 2, 3, 4.0, 10.0).shape == (*batch, 3)
