"""A perceptron as data, and where its numbers lie."""

from __future__ import annotations

import torch

from alfilter.kernels.dispatch import load_kernels
from alfilter.ops.compiled_step import FlatNumbers, Perceptrons, can_compile


def test_where_the_numbers_lie() -> None:
    numbers, gradient = torch.arange(12.0), torch.zeros(12)
    flat = FlatNumbers(numbers, gradient)
    assert flat.start(numbers[4:]) == 4
    rows, sums = flat.rows(numbers[2:6], 2)
    sums += rows
    assert gradient.tolist() == [0, 0, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0]
    layers = [(numbers[2:8].view(3, 2), numbers[8:11]), (numbers[:3].view(1, 3), numbers[11:])]
    network = flat.network(load_kernels("mlp_step"), Perceptrons([layers], "sine", 30.0), coordinates=True)
    assert network.sizes.tolist() == [2, 3, 1]
    assert network.starts.tolist() == [2, 8, 0, 11]
    assert (network.kind, network.omega, network.coordinates) == (1, 30.0, True)


def test_what_can_be_compiled() -> None:
    weight, bias = torch.ones(3, 2), torch.ones(3)
    assert can_compile([weight, bias])
    assert not can_compile([weight.double(), bias])
    assert not can_compile([weight.t(), bias])
    assert not Perceptrons([[(weight, bias)]]).has_kernel()
    assert Perceptrons([[(weight, bias), (torch.ones(1, 3), torch.ones(1))]]).has_kernel()
    assert not Perceptrons([[(torch.ones(500, 2), torch.ones(500)), (torch.ones(1, 500), bias)]]).has_kernel()
