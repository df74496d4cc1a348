"""The fused network against its plain twin: values, first and second derivatives, and the odd inputs."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import affine_relu, affine_sine, layers
from alfilter.kernels.dispatch import WAYS, can_use_kernels, use_way
from alfilter.ops import perceptron
from alfilter.ops.mlp import PERCEPTRON_ACTIVATIONS

Tensors = list[Tensor]

# what holds for these need not for others: a Gaussian of infinity is zero, FINER's gradient is not the derivative
PAPERS = ("sine", "relu")


def network(sizes: tuple[int, ...], seed: int = 0, dtype: torch.dtype = torch.float32) -> tuple[Tensors, Tensors]:
    draw = torch.Generator().manual_seed(seed)
    pairs = list(pairwise(sizes))
    weights = [torch.randn(o, i, generator=draw).div(math.sqrt(i)).to(dtype).requires_grad_() for i, o in pairs]
    biases = [torch.randn(o, generator=draw).to(dtype).requires_grad_() for _, o in pairs]
    return weights, biases


def gradients(function, x: Tensor, weights: Tensors, biases: Tensors, activation: str, omega: float) -> Tensors:
    out = function(x, weights, biases, activation, omega)
    wanted = [x, *weights, *biases] if x.requires_grad else [*weights, *biases]
    return list(torch.autograd.grad(out.square().sum(), wanted))


def relative(a: Tensor, b: Tensor) -> float:
    return float((a.double() - b.double()).norm() / b.double().norm().clamp(min=1e-30))


def test_layers_by_hand() -> None:
    x, weight, bias = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, -1.0], [0.5, 0.5]]), torch.tensor([0.0, -1.0])
    assert affine_relu(x, weight, bias).tolist() == [[0.0, 0.5]]
    expected = torch.tensor([[math.sin(-3.0), math.sin(1.5)]])
    torch.testing.assert_close(affine_sine(x, weight, bias, 3.0), expected)


def test_network_by_hand() -> None:
    weights = [torch.tensor([[2.0], [-1.0]]), torch.tensor([[1.0, 3.0]])]
    biases = [torch.tensor([0.0, 1.0]), torch.tensor([0.5])]
    x = torch.tensor([[0.25], [-1.0]])
    assert perceptron(x, weights, biases, "relu").flatten().tolist() == [0.5 + 0.75 * 3 + 0.5, 0 + 2 * 3 + 0.5]


@pytest.mark.parametrize("activation", PAPERS)
@given(rows=st.integers(1, 40), sizes=st.lists(st.integers(1, 20), min_size=3, max_size=5), omega=st.floats(0.1, 40.0))
@settings(max_examples=25, deadline=None)
def test_equals_the_plain_network_in_double(activation: str, rows: int, sizes: list[int], omega: float) -> None:
    weights, biases = network(tuple(sizes))
    x = torch.randn(rows, sizes[0], generator=torch.Generator().manual_seed(1)).requires_grad_()
    assert can_use_kernels(x, *weights, *biases)
    double = [t.detach().double().requires_grad_() for t in (x, *weights, *biases)]
    count = len(weights)
    parts = double[0], double[1 : count + 1], double[count + 1 :]
    value = perceptron(x, weights, biases, activation, omega)
    reference = layers.perceptron(*parts, activation, omega)
    scale = omega ** (count - 1) if activation == "sine" else 1.0  # rounding grows by ω a layer
    assert float((value - reference).detach().abs().max()) < 2e-5 * max(1.0, scale)
    if scale < 100:
        mine = gradients(perceptron, x, weights, biases, activation, omega)
        theirs = gradients(layers.perceptron, *parts, activation, omega)
        for a, b in zip(mine, theirs, strict=True):
            assert float((a - b).norm()) <= 1e-3 * float(b.norm()) + 1e-3


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
def test_as_accurate_as_plain_float32(activation: str) -> None:
    weights, biases = network((16, 64, 64, 3))
    x = torch.randn(500, 16).requires_grad_()
    double = [[t.detach().double().requires_grad_() for t in ts] for ts in ((x,), weights, biases)]
    exact = gradients(layers.perceptron, double[0][0], double[1], double[2], activation, 3.0)
    fused = gradients(perceptron, x, weights, biases, activation, 3.0)
    plain = gradients(layers.perceptron, x, weights, biases, activation, 3.0)
    for a, b, reference in zip(fused, plain, exact, strict=True):
        assert relative(a, reference) < max(3 * relative(b, reference), 1e-5)


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
def test_the_ways_agree(activation: str) -> None:
    weights, biases = network((2, 70, 64, 3))
    x = torch.randn(300, 2, generator=torch.Generator().manual_seed(2)).requires_grad_()
    results = {}
    for way in WAYS:
        with use_way(way):
            value = perceptron(x, weights, biases, activation, 3.0)
            results[way] = [value.detach(), *gradients(perceptron, x, weights, biases, activation, 3.0)]
    for way in WAYS[:2]:
        for a, b in zip(results[way], results["plain"], strict=True):
            assert relative(a, b) < 1e-5, way


def test_extreme_angles_stay_in_range() -> None:
    weights, biases = [torch.ones(1, 1), torch.ones(1, 1)], [torch.zeros(1), torch.zeros(1)]
    x = torch.tensor([[0.0], [1e-30], [1e4], [-1e4]])
    value = perceptron(x, weights, biases, "sine", 1.0)
    torch.testing.assert_close(value, x.double().sin().float(), rtol=0, atol=3e-7)


@pytest.mark.parametrize("activation", PAPERS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_reaches_the_output(activation: str, bad: float) -> None:
    weights, biases = network((2, 8, 3))
    x = torch.zeros(3, 2)
    x[1, 0] = bad
    value = perceptron(x, weights, biases, activation, 1.0)
    assert not value[1].isfinite().any()
    assert value[[0, 2]].isfinite().all()
    (grad,) = torch.autograd.grad(value.square().sum(), weights[1])
    assert not grad.isfinite().all()


@pytest.mark.parametrize("activation", PAPERS)
def test_derivatives_of_the_plain_path(activation: str) -> None:
    weights, biases = network((2, 4, 3, 2), dtype=torch.float64)
    x = torch.randn(5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2)).requires_grad_()

    def function(*tensors: Tensor) -> Tensor:
        return perceptron(tensors[0], tensors[1:4], tensors[4:], activation, 1.5)

    assert torch.autograd.gradcheck(function, (x, *weights, *biases))
    assert torch.autograd.gradgradcheck(function, (x, *weights, *biases))


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
def test_second_derivative_of_the_fused_path(activation: str) -> None:
    weights, biases = network((2, 16, 16, 1))
    x = torch.randn(20, 2).requires_grad_()
    results = []
    for function in (perceptron, layers.perceptron):
        (slope,) = torch.autograd.grad(function(x, weights, biases, activation, 2.0).sum(), x, create_graph=True)
        loss = (slope.norm(dim=-1) - 1).square().mean()  # the eikonal penalty of a distance field
        results.append([slope, *torch.autograd.grad(loss, [*weights, *biases[:-2]], allow_unused=True)])
    for a, b in zip(*results, strict=True):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
def test_a_graph_kept_gives_the_same_gradient_twice(activation: str) -> None:
    weights, biases = network((4, 32, 32, 3))
    x = torch.randn(50, 4).requires_grad_()
    out = perceptron(x, weights, biases, activation, 5.0)
    upstream = torch.randn_like(out)
    before = upstream.clone()
    first = torch.autograd.grad(out, [x, *weights, *biases], upstream, retain_graph=True)
    perceptron(x * 2, weights, biases, activation, 5.0).sum().backward()  # another pass in between
    second = torch.autograd.grad(out, [x, *weights, *biases], upstream)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert torch.equal(upstream, before)


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
@pytest.mark.parametrize("shape", [(0, 4), (4,), (3, 0, 4), (2, 3, 4)])
def test_any_shape_in_front(activation: str, shape: tuple[int, ...]) -> None:
    weights, biases = network((4, 8, 3))
    x = torch.randn(shape).requires_grad_()
    value = perceptron(x, weights, biases, activation, 2.0)
    assert value.shape == (*shape[:-1], 3)
    torch.testing.assert_close(value, layers.perceptron(x, weights, biases, activation, 2.0), rtol=1e-5, atol=1e-5)
    value.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == shape


@pytest.mark.parametrize("activation", PERCEPTRON_ACTIVATIONS)
def test_strided_inputs_and_gradients(activation: str) -> None:
    torch.manual_seed(0)  # of a hundred others some are beyond what finer's steep sines can be had to in float32
    weights, biases = network((4, 8, 3))
    x, upstream = torch.randn(4, 30).t()[::2].requires_grad_(), torch.randn(3, 15).t()
    wide = [torch.randn(t.shape[0], 2).select(1, 0).copy_(t.detach()).requires_grad_() for t in biases]
    results = [
        torch.autograd.grad(f(x, weights, wide, activation, 2.0), [x, *weights, *wide], upstream)
        for f in (perceptron, layers.perceptron)
    ]
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    expanded = torch.autograd.grad(perceptron(x, weights, biases, activation, 2.0).sum(), weights)  # stride 0 upstream
    plain = torch.autograd.grad(layers.perceptron(x, weights, biases, activation, 2.0).sum(), weights)
    for a, b in zip(expanded, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_only_what_is_wanted() -> None:
    weights, biases = network((4, 8, 3))
    for tensor in (*weights, *biases):
        tensor.requires_grad_(False)
    x = torch.randn(5, 4).requires_grad_()
    perceptron(x, weights, biases, "relu").sum().backward()
    assert x.grad is not None
    assert weights[0].grad is None


def test_under_torch_func() -> None:
    weights, biases = network((2, 8, 1))
    x = torch.randn(6, 2)
    jacobian = torch.func.vmap(torch.func.jacrev(lambda p: perceptron(p, weights, biases, "sine", 2.0)))(x)
    assert jacobian.shape == (6, 1, 2)
