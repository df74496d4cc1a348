"""Poly-INR's network: by hand, and the kernel against plain tensor operations."""

from __future__ import annotations

import pytest
import torch

from alfilter.core import polynomial as equations
from alfilter.ops.polynomial import Parts, polynomial


def parts(levels: int, width: int, dims: int, dtype: torch.dtype) -> Parts:
    generator = torch.Generator().manual_seed(levels + width)
    draw = lambda *shape: (torch.randn(shape, generator=generator) / shape[-1] ** 0.5).to(dtype).requires_grad_()  # noqa: E731
    sizes = [width] * levels + [3]
    maps, offsets = [draw(width, dims) for _ in range(levels)], [draw(width) for _ in range(levels)]
    return maps, offsets, [draw(size, width) for size in sizes], [draw(size) for size in sizes]


def test_by_hand() -> None:
    """Two levels of one neuron: z_0 = -2 + 1, l(3 z_0) = -1.5, times l(-2) = -1, is 1.5; the output is 2 l(1.5) + 1."""
    one = lambda value: torch.tensor([[value]])  # noqa: E731
    weights = [one(1.0), one(1.0)], [one(1.0)[0], 0 * one(1.0)[0]], [one(3.0), one(1.0), one(2.0)]
    biases = [0 * one(1.0)[0], 0 * one(1.0)[0], one(1.0)[0]]
    assert polynomial(one(-2.0), (*weights, biases), 0.5).item() == pytest.approx(4.0)


@pytest.mark.parametrize("points", [1, 97, 300])
@pytest.mark.parametrize(("levels", "width", "dims"), [(1, 5, 1), (3, 13, 2), (5, 64, 3), (2, 130, 4)])
@pytest.mark.parametrize("slope", [0.2, 1.0])
def test_values_and_gradients(levels: int, width: int, dims: int, points: int, slope: float) -> None:
    x = torch.rand(points, dims, generator=torch.Generator().manual_seed(points)) * 2 - 1
    results = []
    for dtype, function in ((torch.float32, polynomial), (torch.float64, equations.polynomial)):
        weights = parts(levels, width, dims, dtype)
        out = function(x.to(dtype), weights, slope)
        pull = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out).to(dtype)
        results.append([out.detach(), *torch.autograd.grad((out * pull).sum(), [t for part in weights for t in part])])
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=2e-5 * max(1, double.abs().max().item()))


def test_the_derivative_in_the_coordinates() -> None:
    weights, x = parts(3, 8, 2, torch.float32), torch.rand(20, 2, requires_grad=True)
    slope = torch.autograd.grad(polynomial(x, weights, 0.2).sum(), x)[0]
    double = [[t.double() for t in part] for part in weights]
    twin = x.detach().double().requires_grad_()
    expected = torch.autograd.grad(equations.polynomial(twin, tuple(double), 0.2).sum(), twin)[0]
    torch.testing.assert_close(slope.double(), expected, rtol=1e-4, atol=1e-5)
