"""The Fourier filter bank's network, compiled, is the plain one in value and gradient."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core import filter_bank as equations
from alfilter.ops.filter_bank import Layers, filter_bank


@pytest.mark.parametrize(("points", "width", "backbone"), [(20, 6, 5), (97, 16, 64), (300, 9, 8)])
def test_the_plain_one_up_to_the_second_derivative(points: int, width: int, backbone: int) -> None:
    draw = torch.Generator().manual_seed(width)
    make = lambda *shape: (torch.randn(*shape, generator=draw) * 0.4).requires_grad_()  # noqa: E731
    features, cycles = make(points, 3 + 3 * 2), make(3, width, 2)
    layers: Layers = [(make(width, size), make(width)) for size in (3, width, width, width)]
    merge: Layers = [(make(o, i), make(o)) for i, o in ((3 * width, backbone), (backbone, backbone), (backbone, 2))]
    tensors = [features, cycles, *(t for part in (layers, merge) for pair in part for t in pair)]
    upstream = torch.randn(points, 2, generator=draw)
    results = []
    for function in (filter_bank, equations.filter_bank):
        value = function(features, layers, cycles, 2.0, merge)
        first = torch.autograd.grad(value, tensors, upstream, retain_graph=True)
        (slope,) = torch.autograd.grad(value, features, upstream, create_graph=True)
        results.append((value, *first, *torch.autograd.grad(slope.square().sum(), (features, layers[1][0], cycles))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3 * max(1, b.abs().max().item()))


def test_leading_axes_are_kept() -> None:
    one = lambda *shape: torch.ones(shape)  # noqa: E731
    layers, merge = [(one(4, 2), one(4)), (one(4, 4), one(4))], [(one(5, 4), one(5)), (one(3, 5), one(3))]
    assert filter_bank(one(2, 7, 2 + 2), layers, one(1, 4, 2), 2.0, merge).shape == (2, 7, 3)


def test_by_hand() -> None:
    """One neuron: z_0 = sin(0.2·3), z_1 = sin(2(0.5 z_0 + 0.1)) + sin(2π·0.25·0.4), then 2 max(3 z_1 - 0.5, 0) + 1."""
    one = lambda value: torch.tensor([[value]])  # noqa: E731
    layers = [(one(0.3), torch.zeros(1)), (one(0.5), torch.tensor([0.1]))]
    merge = [(one(3.0), torch.tensor([-0.5])), (one(2.0), torch.tensor([1.0]))]
    result = filter_bank(torch.tensor([[1.0, 0.4]]), layers, torch.full((1, 1, 1), 0.25), 2.0, merge)
    z = math.sin(2 * (0.5 * math.sin(2 * 0.3) + 0.1)) + math.sin(2 * math.pi * 0.1)
    assert result.item() == pytest.approx(2 * max(3 * z - 0.5, 0) + 1, abs=1e-6)
