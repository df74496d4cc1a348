"""The gradient of a grid field in one call: against plain tensor operations, repeatable, and the sum of its parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import grid as grids
from alfilter.core import hash_grid, layers, level_decoders, level_filter
from alfilter.core.hash_grid import Layout
from alfilter.core.residual_loss import ResidualLoss
from alfilter.ops.compiled_step import Perceptrons
from alfilter.ops.grid_mlp import (
    GridFeatures,
    GridField,
    GridGradient,
    LevelFilter,
)
from alfilter.runtime.flat_params import FlatLayout


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed + sum(shape))) * 2 - 1


def plain_loss(
    field: GridField, loss: ResidualLoss, x: Tensor, y: Tensor, factor: float, cap: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """factor times the loss, and what is differentiated, in tensor operations: the reference of `GridGradient`.

    The two differ where every level has a perceptron: all of them learn, the finest one's loss is reported.
    """
    features, network = field.features, field.network
    if features.filter is None:
        z = hash_grid.lookup(features.table, x, features.layout, features.nodes, features.snap, features.coordinates)
    else:
        levels = features.filter
        alpha = grids.interpolate(levels.values, x).squeeze(-1) * levels.unit
        alpha = alpha if cap is None else torch.where(alpha > cap, cap, alpha)
        z = level_filter.filtered_lookup(features.table, x, alpha, features.layout, levels.kappa, features.coordinates)
    if network.by_level:
        values = level_decoders.level_values(z, features.layout.dims, network.layers)  # (L, n, c)
    else:
        weights, biases = zip(*network.layers[0], strict=True)
        values = layers.perceptron(z, weights, biases, network.activation, network.omega).unsqueeze(0)
    channels = len(field.shift)
    error = torch.addcmul(field.shift, field.scale, values) - y[:, :channels]
    share = error.abs().pow(loss.power).sum(-1) * (y[:, channels] if loss.weighted else 1.0)
    by_scale = share.sum(-1) * (loss.factor * factor)  # (scales,)
    return by_scale[-1], by_scale.mean()


def grid_field(
    dims: int = 2,
    features: int = 2,
    levels: int = 3,
    widths: tuple[int, ...] = (16, 16),
    channels: int = 3,
    filtered: bool = False,
    coordinates: bool = False,
    by_level: bool = False,
    mapped: bool = False,
    activation: str = "relu",
) -> tuple[GridField, Tensor]:
    """A field with dense and hashed levels, and all of its numbers in one piece."""
    layout = Layout.of([(3 * 2**level + 1,) * dims for level in range(levels)], 64)
    rows = 50 if mapped else layout.total
    nodes = torch.randint(-1, rows, (layout.total,), dtype=torch.int32) if mapped else None
    inputs = (features if by_level else levels * features) + dims * coordinates
    sizes = list(pairwise((inputs, *widths, channels)))
    networks = [
        [(draw(o, i, seed=n) / i**0.5, draw(o, seed=n)) for i, o in sizes] for n in range(levels if by_level else 1)
    ]
    values = draw(*range(5, 5 + dims), 1) * 1.5 + 1.0
    tensors = [draw(rows, features), values, *(t for network in networks for layer in network for t in layer)]
    layout_of_params = FlatLayout(tensors)
    numbers = torch.zeros(layout_of_params.total)
    table, values, *rest = layout_of_params.views(numbers)
    for place, tensor in zip((table, values, *rest), tensors, strict=True):
        place.copy_(tensor)
    layers = list(zip(rest[::2], rest[1::2], strict=True))
    count = len(sizes)
    network = Perceptrons([layers[i : i + count] for i in range(0, len(layers), count)], activation, 3.0, by_level)
    own = LevelFilter(values, 0.8, 2.0) if filtered else None
    grid = GridFeatures(table, layout, nodes, coordinates=coordinates, filter=own)
    return GridField(grid, network, draw(channels), draw(channels, seed=1) + 1.5), numbers


def both(field: GridField, numbers: Tensor, loss: ResidualLoss, points: int, cap: Tensor | None = None) -> list[Any]:
    """Loss and gradient by the kernel and by autograd."""
    dims, channels = field.features.layout.dims, len(field.shift) + loss.weighted
    x, y = draw(points, dims) * 1.1, draw(points, channels, seed=7)
    y[:, len(field.shift) :].abs_()  # weights
    gradient = torch.zeros_like(numbers)
    actual = GridGradient(field, loss, numbers, gradient)(x, y, 0.5, cap)
    leaves = [t.requires_grad_() for t in field.tensors()]
    value, learned = plain_loss(field, loss, x, y, 0.5, cap)
    expected = torch.zeros_like(numbers)
    grads = torch.autograd.grad(learned, leaves, allow_unused=True)
    for leaf, grad in zip(leaves, grads, strict=True):
        start = (leaf.data_ptr() - numbers.data_ptr()) // 4
        expected[start : start + leaf.numel()] = grad.reshape(-1)
    return [actual, value.item(), gradient, expected]


def check(loss_value: float, value: float, gradient: Tensor, expected: Tensor) -> None:
    assert loss_value == pytest.approx(value, rel=1e-5)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5 * max(1.0, expected.abs().max().item()))


SQUARED, WEIGHTED, ABSOLUTE = ResidualLoss(2, 0.25), ResidualLoss(2, 1.0, True), ResidualLoss(1, 0.5, True)


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("features", [1, 2, 4, 8])
@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_loss_and_gradients(dims: int, features: int, filtered: bool) -> None:
    check(*both(*grid_field(dims, features, filtered=filtered), SQUARED, 301))


@pytest.mark.parametrize("points", [1, 95, 96, 97, 256, 2049])
@pytest.mark.parametrize("loss", [SQUARED, WEIGHTED, ABSOLUTE], ids=["squared", "weighted", "absolute"])
def test_numbers_of_points_around_the_blocks(points: int, loss: ResidualLoss) -> None:
    check(*both(*grid_field(filtered=True), loss, points))


@pytest.mark.parametrize("activation", ["relu", "sine"])
@pytest.mark.parametrize("widths", [(7,), (33, 5, 18), (64, 64)], ids=str)
@pytest.mark.parametrize("coordinates", [False, True])
def test_networks(activation: str, widths: tuple[int, ...], coordinates: bool) -> None:
    field = grid_field(features=3, widths=widths, filtered=True, coordinates=coordinates, activation=activation)
    check(*both(*field, WEIGHTED, 130))


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("levels", [1, 4])
def test_a_perceptron_per_level_on_nodes_without_rows(dims: int, levels: int) -> None:
    check(*both(*grid_field(dims, 4, levels, (16,), coordinates=True, by_level=True, mapped=True), SQUARED, 230))


@pytest.mark.parametrize("cap", [torch.tensor(1.2), draw(200) + 1.2], ids=["one", "each"])
def test_capped(cap: Tensor) -> None:
    check(*both(*grid_field(filtered=True), SQUARED, 200, cap))


def test_a_settled_filter_has_no_gradient_and_changes_no_other() -> None:
    field, numbers = grid_field(filtered=True)
    x, y, moving, settled = draw(2100, 2), draw(2100, 3), torch.zeros_like(numbers), torch.zeros_like(numbers)
    losses = [
        GridGradient(field, SQUARED, numbers, moving)(x, y, 1.0),
        GridGradient(field, SQUARED, numbers, settled)(x, y, 1.0, settled=True),
    ]
    assert field.features.filter is not None
    start = (field.features.filter.values.data_ptr() - numbers.data_ptr()) // 4
    assert moving[start : start + 30].any()
    moving[start : start + 30] = 0
    assert losses[0] == losses[1]
    assert torch.equal(moving, settled)


def test_a_closed_cap_leaves_alpha_alone() -> None:
    field, numbers = grid_field(filtered=True)
    gradient = torch.zeros_like(numbers)
    GridGradient(field, SQUARED, numbers, gradient)(draw(90, 2), draw(90, 3), 1.0, torch.tensor(-50.0))
    assert field.features.filter is not None
    start = (field.features.filter.values.data_ptr() - numbers.data_ptr()) // 4
    assert not gradient[start : start + 30].any()
    assert gradient.any()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 4), st.integers(1, 9), st.integers(1, 5), st.lists(st.integers(1, 40), min_size=1, max_size=3),
    st.integers(1, 4), st.booleans(), st.integers(1, 300),
)  # fmt: skip
def test_any_sizes(
    dims: int, features: int, levels: int, widths: list[int], channels: int, filtered: bool, points: int
) -> None:
    field, numbers = grid_field(dims, features, levels, tuple(widths), channels, filtered)
    actual, value, gradient, expected = both(field, numbers, SQUARED, points)
    assert actual == pytest.approx(value, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4 * max(1.0, expected.abs().max().item()))


def test_same_call_same_bits_and_parts_add_up() -> None:
    field, numbers = grid_field(filtered=True)
    x, y = draw(500, 2), draw(500, 3)
    gradients = [torch.zeros_like(numbers) for _ in range(3)]
    first, again, parts = (GridGradient(field, SQUARED, numbers, g) for g in gradients)
    assert first(x, y, 1.0) == again(x, y, 1.0)
    assert torch.equal(gradients[0], gradients[1])
    total = parts(x[:77], y[:77], 1.0) + parts(x[77:], y[77:], 1.0)
    assert total == pytest.approx(first(x, y, 1.0), rel=1e-6)
    torch.testing.assert_close(gradients[2] * 2, gradients[0], rtol=1e-4, atol=1e-4)


def test_no_points_and_what_is_no_number() -> None:
    field, numbers = grid_field(filtered=True)
    step = GridGradient(field, SQUARED, numbers, torch.zeros_like(numbers))
    assert step(draw(0, 2), draw(0, 3), 1.0) == 0.0
    x, y = draw(5, 2), draw(5, 3)
    x[2, 1] = float("nan")
    assert torch.tensor(step(x, y, 1.0)).isnan()
    y[0, 0] = float("nan")
    assert torch.tensor(step(x[:1], y[:1], 1.0)).isnan()


def test_what_has_no_kernel() -> None:
    field, _ = grid_field()
    assert field.has_kernel()
    double = GridFeatures(field.features.table.double(), field.features.layout)
    assert not GridField(double, field.network, field.shift, field.scale).has_kernel()
    other = Perceptrons(field.network.layers, "gauss")
    assert not GridField(field.features, other, field.shift, field.scale).has_kernel()
