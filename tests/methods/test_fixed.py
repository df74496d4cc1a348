"""Rows whose encoding is fixed: what they are made of."""

from __future__ import annotations

import torch

from alfilter.config import Density
from alfilter.encodings import Fourier, Identity, RandomFourier
from alfilter.methods import build, preset


def test_what_each_row_is_made_of() -> None:
    kinds = {"pe-mlp": Fourier, "fourier-features": RandomFourier, "siren": Identity}
    for name, kind in kinds.items():
        assert type(build(name, in_dim=2, out_dim=1, width=4).encoding) is kind
    assert build("pe-mlp", in_dim=3, out_dim=1, levels=5, width=4).encoding.out_dim == 2 * 3 * 5
    assert build("fourier-features", in_dim=3, out_dim=1, features=7, width=4).encoding.out_dim == 14


def test_siren_starts_as_its_source() -> None:
    """First weights U(±1/d), later ones U(±√(6/n)/ω)."""
    network = build("siren", in_dim=2, out_dim=1, width=64, omega=20.0).network
    largest = [network.get_parameter(f"weights.{i}").abs().max().item() for i in range(4)]
    assert 0.45 < largest[0] <= 0.5
    assert all(size <= (6 / 64) ** 0.5 / 20 for size in largest[1:])


def test_the_spread_of_random_frequencies() -> None:
    encoding = build("fourier-features", in_dim=2, out_dim=1, features=2000, sigma=3.0, width=4).encoding
    across = 2 * encoding.get_buffer("frequencies")  # the domain is two units wide
    assert abs(across.std().item() - 3) < 0.15


def test_a_sounds_frequency_follows_the_root_of_its_length() -> None:
    row = preset("siren", "default-audio")
    assert row.options_at(Density(1, 44_100))["omega"] == 300
    assert row.options_at(Density(1, 4 * 44_100))["omega"] == 600
    assert row.options_at(None)["omega"] == 300
    assert torch.is_tensor(build("siren", in_dim=1, out_dim=1, preset="default-audio", samples=(441,)).shift)
