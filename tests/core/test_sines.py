"""A single sine layer, compiled, is the plain one in value and gradient."""

from __future__ import annotations

import torch

from alfilter.core import affine_sine
from alfilter.core.sines import sine_layer


def test_value_and_gradients_are_the_plain_ones() -> None:
    draw = torch.Generator().manual_seed(0)
    tensors = [torch.randn(*shape, generator=draw).requires_grad_() for shape in ((4, 5, 3), (6, 3), (6,))]
    upstream = torch.randn(4, 5, 6, generator=draw)
    found = []
    for function in (sine_layer, affine_sine):
        value = function(*tensors, 7.0)
        found.append((value, *torch.autograd.grad(value, tensors, upstream)))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
