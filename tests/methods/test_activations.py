"""Methods that are an activation: SIREN and FINER as in their sources, and the numbers of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import alfilter as al
from alfilter.config import Density
from alfilter.encodings import Identity
from alfilter.methods import Field, parameter_count, preset
from alfilter.networks import MLP
from alfilter.testing.methods import check_model_file, check_resumes, check_seeds, check_trains


def test_siren_starts_as_its_source() -> None:
    """First weights U(±1/d), later ones U(±√(6/n)/ω)."""
    assert isinstance(al.build("siren", in_dim=2, out_dim=1, width=4).encoding, Identity)
    network = al.build("siren", in_dim=2, out_dim=1, width=64, omega=20.0).network
    largest = [network.get_parameter(f"weights.{i}").abs().max().item() for i in range(4)]
    assert 0.45 < largest[0] <= 0.5
    assert all(size <= (6 / 64) ** 0.5 / 20 for size in largest[1:])


def test_finer_as_its_source_has_it(tmp_path: Path) -> None:
    """With the scale held fixed the gradient is not the derivative, but everything else must hold."""

    def make(seed: int = 0) -> Field:
        return al.build("finer", in_dim=2, out_dim=3, width=8, depth=2, omega=5.0, seed=seed)

    check_seeds(make)
    check_model_file(make(), tmp_path / "model.safetensors")
    check_trains(make)
    check_resumes(make, tmp_path)


def test_finers_first_biases_choose_the_frequencies() -> None:
    wide = al.build("finer", in_dim=2, out_dim=3, first_bias=10.0).network.get_parameter("biases.0")
    assert wide.abs().max().item() == pytest.approx(10, rel=0.05)
    usual = al.build("finer", in_dim=2, out_dim=3).network.get_parameter("biases.0")
    assert usual.abs().max().item() <= 2**-0.5
    later = al.build("finer", in_dim=2, out_dim=3, first_bias=10.0).network.get_parameter("biases.1")
    assert later.abs().max().item() <= 1 / 16


def test_gauss_has_the_width_of_its_bump() -> None:
    """exp(-z²/2σ²) is exp(-(s z)²) with s = 1/(σ√2)."""
    network = al.build("gauss", in_dim=1, out_dim=1, sigma=0.5, width=4).network
    assert isinstance(network, MLP)
    assert network.sharpness == pytest.approx(2**0.5)


def test_complex_weights_count_twice_so_there_are_fewer_neurons() -> None:
    complex_, real = (al.build("wire", in_dim=2, out_dim=3, width=100, depth=2, form=f) for f in ("complex", "real"))
    counts = [parameter_count(field) for field in (complex_, real)]
    assert counts[0] == pytest.approx(counts[1], rel=0.05)


def test_a_sounds_frequency_follows_the_root_of_its_length() -> None:
    row = preset("siren", "default-audio")
    assert row.options_at(Density(1, 44_100))["omega"] == 300
    assert row.options_at(Density(1, 4 * 44_100))["omega"] == 600
    assert row.options_at(None)["omega"] == 300
    assert torch.is_tensor(al.build("siren", in_dim=1, out_dim=1, preset="default-audio", samples=(441,)).shift)
