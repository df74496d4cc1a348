"""A single sine layer, compiled, is the plain one in value and gradient."""

from __future__ import annotations

import torch

from alfilter.core import affine_sine
from alfilter.core.sines import plain_sine_sum, sine_layer, sine_sum_layer


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


def test_a_sum_of_sine_layers_is_the_plain_one_up_to_the_second_derivative() -> None:
    draw = torch.Generator().manual_seed(0)
    shapes = (4, 5, 3), (6, 3), (6,), (4, 5, 2), (6, 2)
    x, weight, bias, level, cycles = tensors = [torch.randn(*s, generator=draw).requires_grad_() for s in shapes]
    upstream = torch.randn(4, 5, 6, generator=draw)
    found = []
    for function in (sine_sum_layer, plain_sine_sum):
        value = function(x, weight, bias, 3.0, level, cycles)
        first = torch.autograd.grad(value, tensors, upstream, retain_graph=True)
        (slope,) = torch.autograd.grad(value, x, upstream, create_graph=True)
        found.append((value, *first, *torch.autograd.grad(slope.square().sum(), (weight, level), allow_unused=True)))
    for a, b in zip(*found, strict=True):
        if a is not None or b is not None:
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
