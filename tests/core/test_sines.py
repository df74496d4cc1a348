"""A bank of sine layers, compiled, is the plain one in value and gradient."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core.sines import plain_sine_bank, sine_bank


def test_a_bank_of_sine_layers_is_the_plain_one_up_to_the_second_derivative() -> None:
    draw = torch.Generator().manual_seed(0)
    shapes = (4, 5, 3 + 3 * 2), (3, 6, 2), (6, 3), *[(6, 6)] * 3, *[(6,)] * 4
    tensors = [(torch.randn(*s, generator=draw) * 0.5).requires_grad_() for s in shapes]
    features, cycles, weights, biases = tensors[0], tensors[1], tensors[2:6], tensors[6:]
    upstream = torch.randn(4, 5, 18, generator=draw)
    found = []
    for function in (sine_bank, plain_sine_bank):
        value = function(features, weights, biases, 2.0, cycles)
        first = torch.autograd.grad(value, tensors, upstream, retain_graph=True)
        (slope,) = torch.autograd.grad(value, features, upstream, create_graph=True)
        found.append((value, *first, *torch.autograd.grad(slope.square().sum(), (features, weights[1], cycles))))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_a_bank_by_hand() -> None:
    """One neuron: z_0 = sin(0.2·3), z_1 = sin(2(0.5 z_0 + 0.1)) + sin(2π·0.25·0.4)."""
    one = [torch.tensor([[v]]) for v in (0.3, 0.5)]
    found = sine_bank(
        torch.tensor([[1.0, 0.4]]), one, [torch.zeros(1), torch.tensor([0.1])], 2.0, torch.full((1, 1, 1), 0.25)
    )
    expected = math.sin(2 * (0.5 * math.sin(2 * 0.3) + 0.1)) + math.sin(2 * math.pi * 0.1)
    assert found.item() == pytest.approx(expected, abs=1e-6)
