"""SNR: by hand, and as it must behave."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.metrics.audio import snr

WAVE = torch.tensor([[1.0], [-1.0], [0.0], [2.0]])


def test_by_hand() -> None:
    wrong = WAVE + torch.tensor([[0.1], [0.0], [0.1], [0.2]])
    assert snr(wrong, WAVE) == pytest.approx(10 * math.log10(6 / 0.06), abs=1e-5)


def test_nothing_wrong_and_nothing_there() -> None:
    assert snr(WAVE, WAVE) == math.inf
    assert snr(WAVE, torch.zeros_like(WAVE)) == -math.inf
    assert snr(torch.full((3, 1), 0.5), torch.full((3, 1), 0.5), silence=0.5) == math.inf


@given(st.floats(0.01, 100), st.floats(-5, 5))
def test_neither_loudness_nor_the_place_of_silence_matters(gain: float, silence: float) -> None:
    guess = WAVE + 0.25
    moved = [(values * gain + silence).double() for values in (guess.double(), WAVE.double())]
    assert snr(*moved, silence=silence) == pytest.approx(snr(guess, WAVE), abs=1e-6)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="two sounds of one shape"):
        snr(WAVE, WAVE[:2])
