"""Encodings without a field of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests import references

from alfilter.encodings import Encoding, Fourier, Identity, RandomFourier
from alfilter.testing import check_encoding
from alfilter.testing.properties import points


def random_fourier(in_dim: int, seed: int = 0) -> RandomFourier:
    return RandomFourier(in_dim, 5, 2.0, torch.Generator().manual_seed(seed))


SMALL: dict[str, Callable[[int], Encoding]] = {
    "identity": Identity,
    "fourier": lambda d: Fourier(d, levels=3),
    "random": random_fourier,
}


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
@pytest.mark.parametrize("name", SMALL)
def test_contract(name: str, in_dim: int) -> None:
    check_encoding(SMALL[name](in_dim))


def test_identity_is_its_input() -> None:
    x = points(5, 3)
    assert torch.equal(Identity(3)(x), x)


def test_fourier_is_the_equation() -> None:
    x = points(6, 2)
    expected = [references.dyadic_encoding(row, 4) for row in x.tolist()]
    torch.testing.assert_close(Fourier(2, 4)(x), torch.tensor(expected), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("in_dim", "levels"), [(1, 1), (2, 8), (3, 6)])
def test_fourier_has_2dl_channels_and_no_parameters(in_dim: int, levels: int) -> None:
    encoding = Fourier(in_dim, levels)
    assert encoding.out_dim == encoding(torch.zeros(1, in_dim)).shape[-1] == 2 * in_dim * levels
    assert not list(encoding.parameters())


def test_random_features_of_the_drawn_frequencies() -> None:
    encoding, x = random_fourier(2), points(6, 2)
    expected = [references.random_features(row, encoding.frequencies.tolist()) for row in x.tolist()]
    torch.testing.assert_close(encoding(x), torch.tensor(expected), rtol=0, atol=1e-5)


def test_sigma_counts_cycles_across_the_domain() -> None:
    """Coordinates span 2, so the frequencies per unit have half the standard deviation."""
    encoding = RandomFourier(2, 20_000, sigma=10.0, generator=torch.Generator().manual_seed(0))
    assert encoding.frequencies.std().item() == pytest.approx(5.0, rel=0.02)
    assert encoding.frequencies.mean().item() == pytest.approx(0.0, abs=0.1)


def test_random_frequencies_are_saved_and_not_trained() -> None:
    encoding = random_fourier(2)
    assert list(encoding.state_dict()) == ["frequencies"]
    assert not list(encoding.parameters())


def test_random_frequencies_follow_the_generator() -> None:
    first, again = random_fourier(2), random_fourier(2)
    other = random_fourier(2, seed=1)
    assert torch.equal(first.frequencies, again.frequencies)
    assert not torch.equal(first.frequencies, other.frequencies)


@pytest.mark.parametrize("name", SMALL)
def test_first_bound_is_sirens(name: str) -> None:
    encoding: Encoding = SMALL[name](2)
    assert encoding.first_bound().tolist() == pytest.approx([1 / encoding.out_dim] * encoding.out_dim)


def test_no_field_no_smoothness() -> None:
    assert Fourier(2, 3).smoothness().item() == 0
