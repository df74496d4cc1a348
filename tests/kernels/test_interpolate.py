"""The compiled interpolation against plain tensor code."""

from __future__ import annotations

import pytest
import torch

from alfilter import core, ops


@pytest.mark.parametrize("shape", [(7,), (5, 9), (4, 1, 6)])
def test_interpolation_against_plain(shape: tuple[int, ...]) -> None:
    draw = torch.Generator().manual_seed(0)
    grid = torch.randn(*shape, 1, generator=draw).requires_grad_()
    x = torch.rand(100, len(shape), generator=draw) * 2.4 - 1.2  # beyond the border too
    results = []
    for function in (ops.interpolate, core.interpolate):
        value = function(grid, x)
        results.append((value, *torch.autograd.grad(value.square().sum(), grid)))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
