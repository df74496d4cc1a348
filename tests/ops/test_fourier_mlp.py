"""The gradient of a perceptron on waves in one call: against plain tensor operations, repeatable, the sum of parts."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import dyadic_rates, filtered_encoding, layers, random_features
from alfilter.core.grid import interpolate
from alfilter.core.residual_loss import ResidualLoss
from alfilter.kernels.dispatch import use_way
from alfilter.ops.compiled_step import Perceptrons
from alfilter.ops.fourier_mlp import BandFilter, FourierFeatures, FourierField, FourierGradient
from alfilter.runtime.flat_params import FlatLayout

SQUARED, WEIGHTED, ABSOLUTE = ResidualLoss(2, 0.25), ResidualLoss(2, 1.0, True), ResidualLoss(1, 0.5, True)


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed + sum(shape))) * 2 - 1


def fourier_field(
    kind: str = "filtered",
    dims: int = 2,
    levels: int = 3,
    widths: tuple[int, ...] = (16, 16),
    channels: int = 3,
    coordinates: bool = False,
    activation: str = "sine",
    nodes: tuple[int, ...] = (5, 6, 7, 8),
) -> tuple[FourierField, Tensor]:
    """A field of one kind, and all of its numbers in one piece."""
    rates = {"plain": torch.zeros(0, dims), "random": 5 * draw(7, dims)}.get(kind, dyadic_rates(dims, levels))
    coordinates = coordinates or kind == "plain"
    inputs = 2 * len(rates) + dims * coordinates
    tensors = [t for i, o in pairwise((inputs, *widths, channels)) for t in (draw(o, i) / i**0.5, draw(o))]
    if kind == "filtered":
        tensors.append(draw(*nodes[:dims], 1) * levels * dims + levels)
    layout = FlatLayout(tensors)
    numbers = torch.zeros(layout.total)
    views = layout.views(numbers)
    for place, tensor in zip(views, tensors, strict=True):
        place.copy_(tensor)
    count = 2 * len(widths) + 2
    network = Perceptrons([list(zip(views[:count:2], views[1:count:2], strict=True))], activation, 3.0)
    band = BandFilter(views[-1], 0.8, 4.0, 2.0) if kind == "filtered" else None
    interleaved, (scale, shift) = kind != "random", ((0.5,), 0.5) if kind == "filtered" else ((1.0,), 0.0)
    features = FourierFeatures(rates, scale, shift, interleaved, coordinates, band)
    return FourierField(features, network, draw(channels), draw(channels, seed=1) + 1.5), numbers


def plain_values(field: FourierField, x: Tensor, cap: Tensor | None = None) -> Tensor:
    """The field in tensor operations: the reference of `FourierGradient`."""
    features, network, dims = field.features, field.network, x.shape[1]
    inside = x * torch.tensor(features.scale) + features.shift
    if features.filter is not None:
        band = features.filter
        alpha = interpolate(band.values, x).squeeze(-1) * band.unit
        alpha = alpha if cap is None else torch.where(alpha > cap, cap, alpha)
        z = filtered_encoding(inside, alpha, len(features.rates) // dims, band.bandwidth, band.kappa)
    elif features.interleaved:
        angles = inside @ features.rates.T
        z = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
    else:
        z = random_features(inside, features.rates / (2 * torch.pi))
    z = torch.cat((x, z), dim=-1) if features.coordinates else z
    weights, biases = zip(*network.layers[0], strict=True)
    return torch.addcmul(
        field.shift, field.scale, layers.perceptron(z, weights, biases, network.activation, network.omega)
    )


def check(field: FourierField, numbers: Tensor, loss: ResidualLoss, points: int, cap: Tensor | None = None) -> None:
    """Loss and gradient by the kernel and by autograd."""
    dims, channels = field.features.rates.shape[1], len(field.shift) + loss.weighted
    x, y = draw(points, dims) * 1.1, draw(points, channels, seed=7)
    y[:, len(field.shift) :].abs_()  # weights
    gradient = torch.zeros_like(numbers)
    actual = FourierGradient(field, loss, numbers, gradient)(x, y, 0.5, cap)
    leaves = [t.requires_grad_() for t in field.tensors()]
    value = 0.5 * loss(plain_values(field, x, cap), y)
    expected = torch.zeros_like(numbers)
    for leaf, grad in zip(leaves, torch.autograd.grad(value, leaves), strict=True):
        start = (leaf.data_ptr() - numbers.data_ptr()) // 4
        expected[start : start + leaf.numel()] = grad.reshape(-1)
    assert actual == pytest.approx(value.item(), rel=1e-5)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5 * max(1.0, expected.abs().max().item()))


@pytest.mark.parametrize("kind", ["plain", "dyadic", "random", "filtered"])
@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("activation", ["relu", "sine"])
def test_loss_and_gradients(kind: str, dims: int, activation: str) -> None:
    check(*fourier_field(kind, dims, activation=activation), SQUARED, 301)


@pytest.mark.parametrize("points", [1, 95, 96, 97, 500])
@pytest.mark.parametrize("loss", [SQUARED, WEIGHTED, ABSOLUTE], ids=["squared", "weighted", "absolute"])
def test_numbers_of_points_around_the_blocks(points: int, loss: ResidualLoss) -> None:
    check(*fourier_field(), loss, points)


@pytest.mark.parametrize("widths", [(7,), (33, 5, 18), (64, 64)], ids=str)
@pytest.mark.parametrize("coordinates", [False, True])
def test_networks(widths: tuple[int, ...], coordinates: bool) -> None:
    check(*fourier_field(widths=widths, coordinates=coordinates), WEIGHTED, 130)


@pytest.mark.parametrize("cap", [torch.tensor(1.2), draw(200) + 1.2], ids=["one", "each"])
def test_capped(cap: Tensor) -> None:
    check(*fourier_field(), SQUARED, 200, cap)


@pytest.mark.parametrize("nodes", [(1, 1), (1, 6), (2, 2)], ids=str)
def test_small_grids_of_alpha(nodes: tuple[int, ...]) -> None:
    check(*fourier_field(nodes=nodes), SQUARED, 120)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["plain", "dyadic", "random", "filtered"]), st.integers(1, 4), st.integers(1, 6),
    st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(1, 4), st.booleans(), st.integers(1, 300),
)  # fmt: skip
def test_any_sizes(
    kind: str, dims: int, levels: int, widths: list[int], channels: int, coordinates: bool, points: int
) -> None:
    check(*fourier_field(kind, dims, levels, tuple(widths), channels, coordinates, "relu"), SQUARED, points)


def test_a_settled_filter_has_no_gradient_and_changes_no_other() -> None:
    field, numbers = fourier_field()
    x, y, moving, settled = draw(300, 2), draw(300, 3), torch.zeros_like(numbers), torch.zeros_like(numbers)
    losses = [
        FourierGradient(field, SQUARED, numbers, moving)(x, y, 1.0),
        FourierGradient(field, SQUARED, numbers, settled)(x, y, 1.0, settled=True),
    ]
    assert field.features.filter is not None
    start = (field.features.filter.values.data_ptr() - numbers.data_ptr()) // 4
    assert moving[start : start + 30].any()
    moving[start : start + 30] = 0
    assert losses[0] == losses[1]
    assert torch.equal(moving, settled)


def test_same_call_same_bits_and_parts_add_up() -> None:
    field, numbers = fourier_field()
    x, y = draw(500, 2), draw(500, 3)
    gradients = [torch.zeros_like(numbers) for _ in range(3)]
    first, again, parts = (FourierGradient(field, SQUARED, numbers, g) for g in gradients)
    whole = first(x, y, 1.0)
    assert whole == again(x, y, 1.0)
    assert torch.equal(gradients[0], gradients[1])
    assert parts(x[:77], y[:77], 1.0) + parts(x[77:], y[77:], 1.0) == pytest.approx(whole, rel=1e-6)
    torch.testing.assert_close(gradients[2], gradients[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("place", ["x", "y", "alpha", "weight"])
def test_no_points_and_what_is_no_number(place: str) -> None:
    field, numbers = fourier_field()
    step = FourierGradient(field, SQUARED, numbers, torch.zeros_like(numbers))
    assert step(draw(0, 2), draw(0, 3), 1.0) == 0.0
    x, y = draw(5, 2), draw(5, 3)
    assert field.features.filter is not None
    spoilt = {"x": x, "y": y, "alpha": field.features.filter.values, "weight": field.network.layers[0][0][0]}[place]
    spoilt.view(-1)[: spoilt.numel()] = float("nan")
    assert torch.tensor(step(x, y, 1.0)).isnan()


def test_what_has_no_kernel() -> None:
    field, _ = fourier_field()
    assert field.has_kernel()
    with use_way("layers"):
        assert not field.has_kernel()
    other = Perceptrons(field.network.layers, "gauss")
    assert not FourierField(field.features, other, field.shift, field.scale).has_kernel()
