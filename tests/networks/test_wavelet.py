"""WIRE's complex network: the same as with complex numbers, and sound at its own defaults."""

from __future__ import annotations

import pytest
import torch

import alfilter
from alfilter.methods import parameter_count
from alfilter.networks import ComplexWavelet
from alfilter.testing import check_network
from alfilter.testing.methods import check_seeds, tiny_task
from alfilter.testing.properties import points


def make(*, in_dim: int = 2, width: int = 5, depth: int = 3, seed: int = 0) -> ComplexWavelet:
    generator = torch.Generator().manual_seed(seed)
    return ComplexWavelet(in_dim, 3, width=width, depth=depth, omega=4.0, scale=2.0, generator=generator)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_contract(depth: int) -> None:
    check_network(make(depth=depth))


def test_seeds() -> None:
    check_seeds(lambda seed: make(seed=seed))


def test_it_is_the_network_of_complex_numbers() -> None:
    network, x = make().double(), points(9, 2).double()

    def activated(z: torch.Tensor) -> torch.Tensor:
        return torch.exp(1j * 4 * z - (2 * z).abs().square())

    z = activated((x @ network.first.t() + network.first_bias).to(torch.complex128))
    for weight, bias in zip(network.weights, network.biases, strict=True):
        z = activated(z @ torch.complex(weight[0], weight[1]).t() + torch.complex(bias[0], bias[1]))
    out = (z @ torch.complex(network.last[0], network.last[1]).t()).real + network.last_bias
    torch.testing.assert_close(network(x), out)


def test_width_follows_the_source() -> None:
    """256/√2 = 181 complex neurons have about as many numbers as 256 real ones."""
    field = alfilter.build("wire", in_dim=2, out_dim=3)
    assert isinstance(field.network, ComplexWavelet)
    assert field.network.first.shape == (181, 2)
    real = alfilter.build("wire", in_dim=2, out_dim=3, form="real")
    counts = [parameter_count(f) for f in (field, real)]
    assert counts[0] == pytest.approx(counts[1], rel=0.02)


@pytest.mark.parametrize("which", ["source", "paper", "default"])
@pytest.mark.parametrize("form", ["complex", "real"])
def test_no_nan_at_its_own_settings(which: str, form: str) -> None:
    field = alfilter.build("wire", in_dim=2, out_dim=3, preset=which, form=form, width=64)
    history = alfilter.fit(field, tiny_task(), steps=60).history
    assert all(line["loss"] == line["loss"] for line in history)
    assert history[-1]["loss"] < history[0]["loss"]
