"""Decoders of levels of detail: by hand, and the kernel against plain tensor operations."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from alfilter.core import level_decoders
from alfilter.core.layers import Layers
from alfilter.core.level_decoders import level_inputs
from alfilter.ops.level_decoders import level_values


def decoders(levels: int, sizes: list[int], dtype: torch.dtype) -> list[Layers]:
    generator = torch.Generator().manual_seed(levels)
    pairs = list(pairwise(sizes))
    draw = lambda *shape: torch.randn(shape, generator=generator).to(dtype).requires_grad_()  # noqa: E731
    return [[(draw(o, i), draw(o)) for i, o in pairs] for _ in range(levels)]


def test_inputs_by_hand() -> None:
    inputs = level_inputs(torch.tensor([[0.5, 1.0, 2.0, 4.0]]), 1, 3)
    assert [z.tolist() for z in inputs] == [[[0.5, 1.0]], [[0.5, 3.0]], [[0.5, 7.0]]]


@pytest.mark.parametrize("points", [1, 96, 200])
@pytest.mark.parametrize(("levels", "dims", "size", "hidden"), [(1, 1, 1, [3]), (4, 2, 4, [64]), (3, 3, 5, [9, 17])])
def test_values_and_gradients(levels: int, dims: int, size: int, hidden: list[int], points: int) -> None:
    sizes = [dims + size, *hidden, 3]
    features = torch.randn(points, dims + levels * size, generator=torch.Generator().manual_seed(points))
    results = []
    for dtype, function in ((torch.float32, level_values), (torch.float64, level_decoders.level_values)):
        built, z = decoders(levels, sizes, dtype), features.to(dtype).requires_grad_()
        tensors = [t for decoder in built for layer in decoder for t in layer]
        out = function(z, dims, built)
        assert out.shape == (levels, points, 3)
        pull = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out).to(dtype)
        results.append([out.detach(), *torch.autograd.grad((out * pull).sum(), [z, *tensors])])
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-4, atol=2e-5 * max(1, double.abs().max().item()))


def test_a_level_knows_nothing_of_finer_ones() -> None:
    built, features = decoders(3, [6, 16, 2], torch.float32), torch.randn(50, 2 + 3 * 4, requires_grad=True)
    by_features = torch.autograd.grad(level_values(features, 2, built)[1].sum(), features)[0]
    assert by_features[:, :10].abs().sum() > 0
    assert not by_features[:, 10:].any()
