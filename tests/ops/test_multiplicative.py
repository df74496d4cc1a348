"""Networks of multiplied sine filters: by hand, and the kernel against plain tensor operations."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core import multiplicative
from alfilter.ops.multiplicative import Layers, sine_filters


def parts(layers: int, width: int, dims: int, outputs: int, dtype: torch.dtype) -> tuple[Layers, Layers, Layers]:
    generator = torch.Generator().manual_seed(layers + width)

    def draw(*shape: int) -> torch.Tensor:
        return (torch.randn(shape, generator=generator) / shape[-1] ** 0.5).to(dtype).requires_grad_()

    filters = [(draw(width, dims), draw(width)) for _ in range(layers + 1)]
    return (
        filters,
        [(draw(width, width), draw(width)) for _ in range(layers)],
        [(draw(3, width), draw(3)) for _ in range(outputs)],
    )


def test_by_hand() -> None:
    """z_0 = sin 0.8, z_1 = (2 z_0 + 1) sin 0.3, y = 3 z_1 - 1."""
    one = lambda value: torch.tensor([[value]])  # noqa: E731
    filters = [(one(2.0), torch.tensor([0.0])), (one(1.0), torch.tensor([-0.1]))]
    result = sine_filters(one(0.4), filters, [(one(2.0), torch.tensor([1.0]))], [(one(3.0), torch.tensor([-1.0]))])
    assert result.item() == pytest.approx(3 * (2 * math.sin(0.8) + 1) * math.sin(0.3) - 1)


@pytest.mark.parametrize("points", [1, 97, 300])
@pytest.mark.parametrize(
    ("layers", "width", "dims", "outputs"), [(1, 5, 1, 1), (3, 13, 2, 3), (4, 64, 3, 1), (2, 130, 4, 2), (4, 9, 2, 2)]
)
def test_values_and_gradients(layers: int, width: int, dims: int, outputs: int, points: int) -> None:
    x = torch.rand(points, dims, generator=torch.Generator().manual_seed(points)) * 2 - 1
    results = []
    for dtype, function in ((torch.float32, sine_filters), (torch.float64, multiplicative.sine_filters)):
        weights = parts(layers, width, dims, outputs, dtype)
        out = function(x.to(dtype), *weights)
        assert out.shape == (outputs, points, 3)
        pull = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out).to(dtype)
        tensors = [t for part in weights for pair in part for t in pair]
        results.append([out.detach(), *torch.autograd.grad((out * pull).sum(), tensors, allow_unused=True)])
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=5e-5 * max(1, double.abs().max().item()))


def test_frozen_filters_and_the_derivative_in_the_coordinates() -> None:
    filters, layers, heads = parts(2, 8, 2, 1, torch.float32)
    frozen = [(omega.detach(), phase) for omega, phase in filters]
    x = torch.rand(20, 2)
    sine_filters(x, frozen, layers, heads).sum().backward()
    assert all(phase.grad is not None for _, phase in frozen)
    moved = x.requires_grad_()
    slope = torch.autograd.grad(sine_filters(moved, frozen, layers, heads).sum(), moved)[0]
    double = [[(a.detach().double(), b.detach().double()) for a, b in part] for part in (frozen, layers, heads)]
    twin = x.detach().double().requires_grad_()
    expected = torch.autograd.grad(multiplicative.sine_filters(twin, *double).sum(), twin)[0]
    torch.testing.assert_close(slope.double(), expected, rtol=1e-4, atol=1e-5)
