"""The Fourier filter bank: its formula, and a frequency of its own for every level."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.networks import FilterBank
from alfilter.testing import check_network


def bank(**options: float) -> FilterBank:
    sizes = {"levels": 3, "features": 2, "width": 6, "backbone": 4, "omega": 5.0, "sigma": 0.5, **options}
    return FilterBank(2, 3, **sizes, generator=torch.Generator().manual_seed(0))  # type: ignore[arg-type]


def test_contract() -> None:
    check_network(bank())


def test_formula_by_hand() -> None:
    """One level, one neuron everywhere: z = sin(ω w₁ sin(ω w₀ x)) + sin(2π f g), the value w₄ w₃ w₂ z for z > 0."""
    network = FilterBank(1, 1, levels=1, features=1, width=1, backbone=1, omega=2.0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.weights[0].fill_(0.25)
        network.weights[1].fill_(0.5)
        network.frequencies.fill_(0.1)
        for weight, value in zip(network.merge_weights, (1.0, 2.0, 3.0), strict=True):
            weight.fill_(value)
    z = math.sin(2 * 0.5 * math.sin(2 * 0.25 * 0.8)) + math.sin(2 * math.pi * 0.1 * 0.3)
    assert network(torch.tensor([[0.8, 0.3]])).item() == pytest.approx(6 * z, rel=1e-5)


def test_every_level_passes_through_its_own_frequencies() -> None:
    """Without the frequencies of level i the output knows nothing of its features, and of all the others' still."""
    features = torch.rand(5, 2 + 3 * 2, generator=torch.Generator().manual_seed(1))
    for level in range(3):
        network = bank()
        with torch.no_grad():
            network.frequencies[level].zero_()
        place = features.clone().requires_grad_()
        (slope,) = torch.autograd.grad(network(place).sum(), place)
        silent = [bool((slope[:, 2 + 2 * i : 4 + 2 * i] == 0).all()) for i in range(3)]
        assert silent == [i == level for i in range(3)]


def test_frequencies_spread_by_the_growth_from_level_to_level() -> None:
    network = FilterBank(
        2, 1, levels=4, features=8, width=512, backbone=2, omega=1.0, generator=torch.Generator().manual_seed(0)
    )
    assert network.frequencies.std(dim=(1, 2)).tolist() == pytest.approx([5.0, 10.0, 20.0, 40.0], rel=0.05)
