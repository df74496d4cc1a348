"""The paper's kernel view: its equations against the encoding, and its prediction where it is exact."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from alfilter.analysis import line_points, random_points
from alfilter.analysis.kernel_view import (
    dyadic_kernel,
    filtered_kernel,
    local_eigenvalues,
    local_kernel,
    overlap,
    packet_energies,
    reweighting,
    scale_cosines,
    unfiltered,
    wave_packets,
)
from alfilter.core import dyadic_encoding, scale_response
from alfilter.encodings import FilteredFourier
from alfilter.errors import UserError
from alfilter.methods import Field, build
from alfilter.networks import Network
from alfilter.ops import filtered_encoding


class Linear(Network):
    """One linear layer: the kernel is that of the features, plus one."""

    def __init__(self, in_dim: int) -> None:
        super().__init__(in_dim, 1)
        self.weight, self.bias = nn.Parameter(torch.zeros(1, in_dim)), nn.Parameter(torch.zeros(1))

    def forward(self, features: Tensor) -> Tensor:
        return F.linear(features, self.weight, self.bias)


def linear_field(alpha: float, kappa: float = 10.0) -> Field:
    encoding = FilteredFourier(2, levels=6, bandwidth=9.0, kappa=kappa, resolution=(2, 2), start=alpha)
    return Field(encoding, Linear(24))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_kernel_of_the_encoding(dims: int) -> None:
    """Σ_j cos(2^j π(x-x')) is the inner product of γ, exactly."""
    x, y = random_points(7, dims), random_points(5, dims, seed=1)
    expected = dyadic_encoding(x, 4) @ dyadic_encoding(y, 4).T
    torch.testing.assert_close(dyadic_kernel(x, y, 4), expected)


def test_one_cosine_by_hand() -> None:
    x, y = torch.tensor([[0.25]]), torch.tensor([[0.0]])
    assert scale_cosines(x, y, 2).flatten().tolist() == pytest.approx([math.cos(math.pi / 4), 0.0], abs=1e-6)


def test_the_filtered_kernel_is_that_of_the_features_when_a_scale_has_one_response() -> None:
    """κ → 0 with B·κ fixed makes H the same over a scale; then grouping loses nothing."""
    x = random_points(6, 1)
    alpha = torch.linspace(0, 5, 6, dtype=torch.float64)
    bandwidth, kappa = 200.0, 0.01
    response = scale_response(alpha, 1, 4, bandwidth, kappa)
    features = filtered_encoding(x, alpha, 4, bandwidth, kappa)
    result = filtered_kernel(x, x, (response, response), torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(result, features @ features.T, rtol=1e-3, atol=1e-3)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.lists(st.floats(0, 5), min_size=3, max_size=3))
def test_the_local_kernel_is_the_filtered_one_for_one_alpha(responses: list[float], weights: list[float]) -> None:
    x, y = random_points(4, 2), random_points(3, 2, seed=2)
    response, weight = (torch.tensor(v, dtype=torch.float64) for v in (responses, weights))
    pair = response.expand(4, 3), response.expand(3, 3)
    torch.testing.assert_close(local_kernel(x, y, response, weight), filtered_kernel(x, y, pair, weight))
    torch.testing.assert_close(local_eigenvalues(response, weight), response**2 * weight)


def test_packets_are_unit_vectors_around_their_centre() -> None:
    places = line_points(256, 1).squeeze(-1)
    packets = wave_packets(places, torch.tensor([-0.5, 0.25], dtype=torch.float64), 5, width=0.1)
    assert packets.shape == (2, 5, 256)
    weight = packets.abs().square()
    torch.testing.assert_close(weight.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    centre = (weight * places).sum(-1)
    torch.testing.assert_close(centre[:, 0], torch.tensor([-0.5, 0.25], dtype=torch.float64), atol=1e-3, rtol=0)
    spread = ((places - 0.25).square() * weight[1, 0]).sum().sqrt()
    assert float(spread) == pytest.approx(0.1, rel=0.01)


def test_energies_of_a_stationary_kernel_are_its_weights() -> None:
    """Σ_j λ_j cos(2^j π(x-x')) on n samples of one period: u_jᴴ Θ u_j = λ_j n/2."""
    x, weights = line_points(64, 1), torch.tensor([3.0, 0.5, 2.0], dtype=torch.float64)
    kernel = (weights.view(-1, 1, 1) * scale_cosines(x, x, 3)).sum(0)
    packets = wave_packets(x.squeeze(-1), torch.zeros(1, dtype=torch.float64), 3)
    torch.testing.assert_close(packet_energies(kernel, packets)[0], weights * 32)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_prediction_is_exact_for_a_linear_network(axis: int) -> None:
    """A linear network on γ' has the kernel γ'γ'ᵀ + 1: each scale is scaled by the mean of its channels' H²."""
    for alpha in (3.0, 9.5, 20.0):
        field = linear_field(alpha)
        result = reweighting(field, line_points(128, 2, axis=axis), torch.zeros(1, dtype=torch.float64), axis)
        torch.testing.assert_close(result.filtered / result.open, result.channels, rtol=1e-4, atol=1e-6)
        response = scale_response(torch.tensor([alpha], dtype=torch.float64), 2, 6, 9.0, 10.0)
        torch.testing.assert_close(result.grouped, response.square())
        assert float(overlap(result.channels * result.open, result.filtered)) == pytest.approx(1.0, abs=1e-5)


def test_the_unfiltered_twin() -> None:
    field, x = build("al-relu", in_dim=2, out_dim=1, width=8, grid=4, start=3.0), random_points(5, 2).float()
    twin = unfiltered(field)
    torch.testing.assert_close(twin.encoding(x), dyadic_encoding(x, 8))
    assert isinstance(field.encoding, FilteredFourier)
    assert field.encoding.bandwidth == 20.0
    with pytest.raises(UserError, match="give an al- method"):
        unfiltered(build("siren", in_dim=2, out_dim=1))


@given(st.lists(st.floats(0.01, 10), min_size=4, max_size=4), st.lists(st.floats(0.01, 10), min_size=4, max_size=4))
def test_overlap(a: list[float], b: list[float]) -> None:
    left, right = torch.tensor(a), torch.tensor(b)
    value = float(overlap(left, right))
    assert 0 <= value <= 1 + 1e-6
    assert float(overlap(left, 3 * left)) == pytest.approx(1.0, abs=1e-5)
    assert value == pytest.approx(float(overlap(right, left)), abs=1e-6)
