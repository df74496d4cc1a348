"""What every network is, and how weights start."""

from __future__ import annotations

import torch
from torch import Tensor

from alfilter.networks.base import Network, linears, uniform


class Double(Network):
    def forward(self, features: Tensor) -> Tensor:
        return 2 * features


def test_a_network_of_one_output_has_one_scale() -> None:
    z = torch.randn(4, 3)
    network = Double(3, 3)
    (only,) = network.outputs(z)
    assert torch.equal(only, 2 * z)
    assert network.scales(z).shape == (1, 4, 3)
    assert network.perceptrons() is None


def test_a_uniform_start_fills_its_bound() -> None:
    bound = torch.tensor([0.5, 2.0])
    numbers = uniform((4000, 2), bound, torch.Generator().manual_seed(0))
    assert bool((numbers.abs() <= bound).all())
    torch.testing.assert_close(numbers.std(0), bound / 3**0.5, rtol=0.05, atol=0)


def test_linear_layers_start_by_their_inputs() -> None:
    weights, biases = linears([16, 64, 3], 6.0, torch.Generator().manual_seed(0))
    assert [tuple(w.shape) for w in weights] == [(64, 16), (3, 64)]
    assert [tuple(b.shape) for b in biases] == [(64,), (3,)]
    for inputs, weight, bias in zip((16, 64), weights, biases, strict=True):
        assert 0.9 * (6 / inputs) ** 0.5 < weight.abs().max().item() <= (6 / inputs) ** 0.5
        assert bias.abs().max().item() <= inputs**-0.5
