"""Perceptrons over blocks of points: against plain tensor operations in double precision."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.core import layers
from alfilter.ops import perceptron
from alfilter.ops.mlp import blocked_mlp, can_block

SIZES = [[2, 64, 64, 3], [33, 17, 1], [448, 64, 64, 3], [3, 9, 10, 11, 12], [1, 1, 1], [6, 130, 7]]
POINTS = [1, 95, 96, 97, 500]  # around the size of a block


def network(sizes: list[int], points: int) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
    generator = torch.Generator().manual_seed(sum(sizes) + points)
    draw = lambda *shape: torch.randn(shape, generator=generator)  # noqa: E731
    pairs = list(pairwise(sizes))
    return draw(points, sizes[0]), [draw(o, i) / i**0.5 for i, o in pairs], [draw(o) / 3 for _, o in pairs]


def results(
    double: bool, activation: str, x: torch.Tensor, weights: list[torch.Tensor], biases: list[torch.Tensor]
) -> list[torch.Tensor]:
    """Values and the gradients of everything."""
    dtype = torch.float64 if double else torch.float32
    x, *tensors = (t.to(dtype).requires_grad_() for t in (x, *weights, *biases))
    layers_of = tensors[: len(weights)], tensors[len(weights) :]
    function = layers.perceptron if double else perceptron
    out = function(x, *layers_of, activation, 3.0)
    pull = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out).to(dtype)
    return [out.detach(), *torch.autograd.grad((out * pull).sum(), [x, *tensors])]


@pytest.mark.parametrize("activation", ["relu", "sine"])
@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_values_and_gradients(sizes: list[int], points: int, activation: str) -> None:
    drawn = network(sizes, points)
    assert can_block(activation, drawn[1])
    for single, double in zip(results(False, activation, *drawn), results(True, activation, *drawn), strict=True):
        size = double.abs().max().item()
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=1e-4 * max(size, 1))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=3, max_size=5), st.integers(1, 200), st.sampled_from(["relu", "sine"]))
def test_any_sizes(sizes: list[int], points: int, activation: str) -> None:
    drawn = network(sizes, points)
    for single, double in zip(results(False, activation, *drawn), results(True, activation, *drawn), strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-3, atol=1e-4 * max(double.abs().max().item(), 1))


def test_a_point_does_not_depend_on_its_neighbours() -> None:
    """Bit for bit, wherever in a block it stands: a picture must not depend on how it is cut."""
    x, weights, biases = network([2, 64, 64, 3], 300)
    whole = perceptron(x, weights, biases, "sine", 30.0)
    parts = torch.cat([perceptron(part, weights, biases, "sine", 30.0) for part in torch.split(x, [1, 6, 90, 203])])
    assert torch.equal(whole, parts)


def test_what_is_kept_in_several_blocks_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = network([2, 64, 64, 3], 300)
    whole = results(False, "sine", *drawn)
    monkeypatch.setattr("alfilter.ops.mlp._MAX_SAVED", 100 * 160)
    parts = results(False, "sine", *drawn)
    assert torch.equal(whole[0], parts[0])
    for a, b in zip(whole, parts, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_no_gradient_of_the_input_where_none_is_asked_for() -> None:
    x, weights, biases = network([3, 8, 2], 10)
    tensors = [t.requires_grad_() for t in (*weights, *biases)]
    result = torch.autograd.grad(perceptron(x, weights, biases, "relu").sum(), tensors)
    assert all(g.shape == t.shape for g, t in zip(result, tensors, strict=True))


def test_second_derivatives() -> None:
    x, weights, biases = network([2, 9, 1], 7)
    x = x.requires_grad_()
    assert torch.autograd.gradgradcheck(
        lambda x: blocked_mlp(
            x.float(), weights, biases, "sine", 1.0, lambda x, w, b: layers.perceptron(x, w, b, "sine", 1.0)
        ).double(),
        x.double().detach().requires_grad_(),
        eps=1e-2,
        atol=1e-2,
        rtol=1e-2,
    )


def test_not_a_number_stays_one() -> None:
    x, weights, biases = network([2, 16, 3], 20)
    x[4, 0] = torch.nan
    for activation in ("relu", "sine"):
        out = perceptron(x, weights, biases, activation, 3.0)
        assert out[4].isnan().all()
        assert out[5].isfinite().all()


@pytest.mark.parametrize(("width", "inputs", "expected"), [(384, 1024, True), (385, 2, False), (8, 1025, False)])
def test_wide_parametersare_left_to_the_library(width: int, inputs: int, expected: bool) -> None:
    assert can_block("relu", [torch.zeros(width, inputs), torch.zeros(3, width)]) == expected
    assert not can_block("gauss", [torch.zeros(8, 2)])
