"""Poly-INR: by hand, of the degree it says, and a start that keeps its size."""

from __future__ import annotations

import pytest
import torch

from alfilter.networks import PolyINR
from alfilter.testing import check_network
from alfilter.testing.methods import check_seeds
from alfilter.testing.properties import points


def make(*, in_dim: int = 2, width: int = 6, levels: int = 3, slope: float = 0.2, seed: int = 0) -> PolyINR:
    generator = torch.Generator().manual_seed(seed)
    return PolyINR(in_dim, 3, width=width, levels=levels, slope=slope, generator=generator)


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_contract(in_dim: int) -> None:
    check_network(make(in_dim=in_dim))


@pytest.mark.parametrize("levels", [1, 2])
def test_contract_of_few_levels(levels: int) -> None:
    check_network(make(levels=levels))


def test_seeds() -> None:
    check_seeds(lambda seed: make(seed=seed))


def test_by_hand() -> None:
    """One neuron, two levels, x = 0.5: g = 2x + 1 = 2; l(3·2 - 7) = -0.2; times l(-4x + 1) = -0.2 is 0.04; l(5·0.04 +
    0.1) = 0.3; 2·0.3 + 1.
    """
    network = PolyINR(1, 1, width=1, levels=2, slope=0.2)
    numbers = {"maps": [2.0, -4.0], "offsets": [1.0, 1.0], "weights": [3.0, 5.0, 2.0], "biases": [-7.0, 0.1, 1.0]}
    with torch.no_grad():
        for name, values in numbers.items():
            for i, value in enumerate(values):
                network.get_parameter(f"{name}.{i}").fill_(value)
    assert network(torch.tensor([[0.5]])).item() == pytest.approx(1.6)


@pytest.mark.parametrize("levels", [1, 2, 3, 5])
def test_it_is_a_polynomial_of_as_many_degrees_as_levels(levels: int) -> None:
    """With slope 1: differences of order levels + 1 vanish on an even grid, those of order levels do not."""
    network = make(in_dim=1, levels=levels, slope=1.0).double()
    values = network(torch.linspace(-1, 1, 24, dtype=torch.float64)[:, None]).detach()
    for _ in range(levels):
        values = values.diff(dim=0)
    assert values.abs().max().item() > 1e-9
    assert values.diff(dim=0).abs().max().item() < 1e-10 * max(1.0, values.abs().max().item())


def test_the_start_keeps_its_size_with_depth() -> None:
    x = points(500, 2)
    spreads = [make(width=256, levels=levels)(x).square().mean().sqrt().item() for levels in (2, 10)]
    assert 0.05 < spreads[1] / spreads[0] < 20
