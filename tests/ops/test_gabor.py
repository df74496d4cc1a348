"""Layers that multiply: by hand, and their kernels against the plain functions."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core import gabor
from alfilter.ops.gabor import gabor_product


def one(value: float) -> torch.Tensor:
    return torch.tensor([[value]])


def test_by_hand() -> None:
    """a = 2, b = 0.5, x = 0.3, Ω = 4, φ = 0.1, μ = -0.2, γ = 3."""
    inputs = one(2.0), torch.tensor([0.5]), one(0.3), one(4.0), torch.tensor([0.1])
    bump = math.exp(-0.5 * 3 * 0.5**2)
    assert gabor_product(*inputs, one(-0.2), torch.tensor([3.0])).item() == pytest.approx(2.5 * math.sin(1.3) * bump)


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("in_x", [False, True])
def test_kernel_against_the_plain_function(dims: int, in_x: bool) -> None:
    """Values and all gradients, with and without those of the coordinates."""
    generator = torch.Generator().manual_seed(dims)
    shapes = [(30, 5), (5,), (30, dims), (5, dims), (5,), (5, dims), (5,)]
    tensors = [torch.randn(shape, generator=generator) for shape in shapes]
    results = []
    for dtype in (torch.float32, torch.float64):
        inputs = [t.to(dtype) for t in tensors]
        wanted = [t.requires_grad_() for i, t in enumerate(inputs) if i != 2 or in_x]
        out = (gabor.gabor_product if dtype == torch.float64 else gabor_product)(*inputs)
        results.append((out, *torch.autograd.grad(out.square().sum(), wanted)))
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-3, atol=2e-3)
