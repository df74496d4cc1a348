"""The network of the filter bank by hand."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core.filter_bank import filter_bank


def number(value: float) -> torch.Tensor:
    return torch.tensor([[value]], dtype=torch.float64)


def test_two_levels_of_one_neuron() -> None:
    """z_0 = sin 2(0.5 x), z_1 = sin 2(z_0 + 0.1) + sin 2π 0.3 g_1, z_2 = sin 2(-z_1) + sin 2π 0.7 g_2."""
    x, g1, g2 = 0.4, 0.2, -0.6
    layers = [(number(0.5), number(0.0)[0]), (number(1.0), number(0.1)[0]), (number(-1.0), number(0.0)[0])]
    cycles = torch.tensor([[[0.3]], [[0.7]]], dtype=torch.float64)
    merge = [(torch.tensor([[1.0, 2.0]], dtype=torch.float64), number(0.5)[0]), (number(3.0), number(-1.0)[0])]
    z0 = math.sin(2 * 0.5 * x)
    z1 = math.sin(2 * (z0 + 0.1)) + math.sin(2 * math.pi * 0.3 * g1)
    z2 = math.sin(-2 * z1) + math.sin(2 * math.pi * 0.7 * g2)
    expected = 3 * max(0.0, z1 + 2 * z2 + 0.5) - 1
    features = torch.tensor([[x, g1, g2]], dtype=torch.float64)
    assert filter_bank(features, layers, cycles, 2.0, merge).item() == pytest.approx(expected)
