"""What both filtered encodings promise: α is a cut-off in cycles across the domain."""

from __future__ import annotations

import pytest
import torch

from alfilter.encodings import FilteredEncoding, FilteredFourier, FilteredGrid

ENCODINGS = {
    "fourier": lambda: FilteredFourier(2, levels=5, bandwidth=6.0, kappa=10.0, resolution=(6, 6), start=4.0),
    "grid": lambda: FilteredGrid(2, levels=5, features=2, base=2, finest=32, table=512, resolution=(6, 6), start=2.0),
}


@pytest.fixture(params=sorted(ENCODINGS))
def encoding(request: pytest.FixtureRequest) -> FilteredEncoding:
    return ENCODINGS[request.param]()


def test_frequency_rises_with_alpha(encoding: FilteredEncoding) -> None:
    cycles = encoding.frequency(torch.linspace(encoding.alpha.low, encoding.alpha.high, 50))
    assert bool((cycles.diff() >= 0).all())
    assert cycles[-1].item() == pytest.approx(encoding.level_frequencies()[-1].item())


def test_a_level_at_the_cut_off_passes_half_or_more_and_an_octave_above_less(encoding: FilteredEncoding) -> None:
    cycles = encoding.level_frequencies()[2]
    response = encoding.response(encoding.alpha_at(cycles))
    assert response[2] >= 0.4
    assert response[4] < response[2]


def test_limited_only_lowers(encoding: FilteredEncoding) -> None:
    x = torch.rand(20, 2) * 2 - 1
    capped = torch.minimum(encoding.alpha(x), encoding.alpha_at(torch.tensor(4.0)))
    torch.testing.assert_close(encoding.limited(x, torch.tensor(4.0)), encoding.filtered(x, capped))
    torch.testing.assert_close(encoding.limited(x, torch.tensor(1e6)), encoding(x))


def test_local_frequency_is_the_frequency_of_alpha(encoding: FilteredEncoding) -> None:
    x = torch.rand(3, 4, 2) * 2 - 1
    assert encoding.local_frequency(x).shape == (3, 4)
    torch.testing.assert_close(encoding.local_frequency(x), encoding.frequency(encoding.alpha(x)))


def test_hand_values_of_the_fourier_cut_off() -> None:
    """d = 2: scale j has the channels 4j to 4j + 3, around 4j + 1.5; the edge α + B/2 = 7 is the scale 5.5/4."""
    assert ENCODINGS["fourier"]().local_frequency(torch.zeros(1, 2)).item() == pytest.approx(2**1.375)
