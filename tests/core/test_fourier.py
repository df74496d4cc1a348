"""γ(x) and random features: the order spelled out, against loops, and differentiated."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import references
from torch.autograd import gradcheck, gradgradcheck

from alfilter.core import channel_scales, dyadic_encoding, encoded_dim, random_features, scale_sets

POINTS = st.lists(st.floats(-1, 1), min_size=1, max_size=4)


def rows(count: int, dims: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.rand(count, dims, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 2 - 1).to(dtype)


# ── γ ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_encoding_by_hand() -> None:
    """x = (1/6, 1/4): sines and cosines of 30° and 45°, then of 60° and 90°. The order is the filter's axis."""
    got = dyadic_encoding(torch.tensor([1 / 6, 1 / 4], dtype=torch.float64), levels=2)
    half, root = math.sqrt(0.5), math.sqrt(3) / 2
    assert got.tolist() == pytest.approx([0.5, root, half, half, root, 0.5, 1, 0], abs=1e-15)


@given(POINTS, st.integers(1, 10))
def test_encoding_is_the_equation(x: list[float], levels: int) -> None:
    got = dyadic_encoding(torch.tensor(x, dtype=torch.float64), levels)
    assert got.tolist() == pytest.approx(references.dyadic_encoding(x, levels), abs=1e-12)


@given(POINTS, st.integers(1, 10))
def test_sine_and_cosine_are_neighbours_on_the_unit_circle(x: list[float], levels: int) -> None:
    got = dyadic_encoding(torch.tensor(x, dtype=torch.float64), levels)
    assert got.view(-1, 2).square().sum(-1).tolist() == pytest.approx([1] * (len(x) * levels), abs=1e-12)


@given(POINTS)
def test_inner_product_is_the_kernel(x: list[float]) -> None:
    """γ(x)·γ(y) = Σ_j Σ_k cos(2^j π (x_k - y_k)), the stationary kernel of the paper's appendix."""
    a = torch.tensor(x, dtype=torch.float64)
    b = a.flip(0) * 0.5
    expected = sum(math.cos(2**j * math.pi * d) for j in range(5) for d in (a - b).tolist())
    assert (dyadic_encoding(a, 5) @ dyadic_encoding(b, 5)).item() == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,), (2, 0)])
def test_encoding_keeps_the_batch(batch: tuple[int, ...]) -> None:
    assert dyadic_encoding(torch.zeros(*batch, 3), 4).shape == (*batch, encoded_dim(3, 4))


def test_encoding_derivatives() -> None:
    x = rows(3, 2, torch.float64).requires_grad_()
    assert gradcheck(lambda p: dyadic_encoding(p, 3), x)
    assert gradgradcheck(lambda p: dyadic_encoding(p, 3), x)


def test_encoded_dim_is_the_papers_example() -> None:
    assert encoded_dim(in_dim=2, levels=8) == 32


@given(st.integers(1, 5), st.integers(1, 12))
def test_scale_sets_partition_the_channels(in_dim: int, levels: int) -> None:
    sets = scale_sets(in_dim, levels)
    assert [c for members in sets for c in members] == list(range(encoded_dim(in_dim, levels)))
    assert {len(members) for members in sets} == {2 * in_dim}
    assert all(channel_scales(in_dim, levels)[c] == j for j, members in enumerate(sets) for c in members)


def test_a_channel_has_the_frequency_of_its_scale() -> None:
    """Measured by FFT: scale j makes 2^j cycles over the domain's length 2."""
    x = torch.arange(64, dtype=torch.float64)[:, None] / 32 - 1
    spectrum = torch.fft.rfft(dyadic_encoding(x, 5), dim=0).abs()  # (33, 10)
    assert spectrum.argmax(0).tolist() == [2**j for j in channel_scales(1, 5).tolist()]


# ── random features ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_random_features_by_hand() -> None:
    """B x = 1/12 + 1/6 = 1/4 turn, and 1/3 turn."""
    x = torch.tensor([1 / 12, 1 / 6], dtype=torch.float64)
    got = random_features(x, torch.tensor([[1.0, 1.0], [0.0, 2.0]], dtype=torch.float64))
    assert got.tolist() == pytest.approx([1, math.sqrt(3) / 2, 0, -0.5], abs=1e-15)


def test_random_features_against_loops() -> None:
    x, frequencies = rows(4, 3, torch.float64), rows(7, 3, torch.float64) * 5
    expected = [references.random_features(row, frequencies.tolist()) for row in x.tolist()]
    torch.testing.assert_close(random_features(x, frequencies), torch.tensor(expected, dtype=torch.float64))


def test_random_features_derivatives() -> None:
    x, frequencies = rows(3, 2, torch.float64).requires_grad_(), rows(4, 2, torch.float64).requires_grad_()
    assert gradcheck(random_features, (x, frequencies))
    assert gradgradcheck(random_features, (x, frequencies))
