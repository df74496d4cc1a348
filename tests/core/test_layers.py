"""Layers and whole perceptrons, by hand and against loops."""

from __future__ import annotations

import pytest
import torch
from tests.references import mlp

from alfilter.core.activations import ACTIVATIONS
from alfilter.core.layers import affine, affine_relu, affine_sine, perceptron

X = torch.tensor([[1.0, 2.0]])
WEIGHT, BIAS = torch.tensor([[1.0, -1.0], [0.5, 0.5]]), torch.tensor([0.0, -1.0])


def test_layers_by_hand() -> None:
    assert affine(X, WEIGHT, BIAS).tolist() == [[-1.0, 0.5]]
    assert affine_relu(X, WEIGHT, BIAS).tolist() == [[0.0, 0.5]]
    torch.testing.assert_close(affine_sine(X, WEIGHT, BIAS, 2.0), torch.sin(torch.tensor([[-2.0, 1.0]])))


@pytest.mark.parametrize("activation", ["relu", "sine", *(n for n in ACTIVATIONS if n != "complex-wavelet")])
def test_perceptrons_against_loops(activation: str) -> None:
    draw = torch.Generator().manual_seed(1)
    sizes = [(3, 2), (3, 3), (1, 3)]
    weights = [torch.randn(size, generator=draw, dtype=torch.float64) for size in sizes]
    biases = [torch.randn(size[0], generator=draw, dtype=torch.float64) for size in sizes]
    x = torch.rand(4, 2, generator=draw, dtype=torch.float64)
    numbers = [w.tolist() for w in weights], [b.tolist() for b in biases]
    expected = [mlp(row, *numbers, activation, 2.0, 0.5) for row in x.tolist()]
    values = perceptron(x, weights, biases, activation, 2.0, 0.5)
    torch.testing.assert_close(values, torch.tensor(expected, dtype=torch.float64))
