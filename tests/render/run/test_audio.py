"""The figures of a sound: what they compute, and that odd sounds can be drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import ShortTimeFFT

from alfilter.render.run.audio import spectrogram, spectrogram_figure, waveform_figure


def test_the_spectrogram_is_scipys() -> None:
    wave = np.random.default_rng(0).standard_normal(3 * 1024)
    ours = spectrogram(wave)
    assert ours.shape == (9, 513)
    window = np.hanning(1026)[1:-1]
    reference = ShortTimeFFT(window, hop=256, fs=1.0)
    for k, start in enumerate(range(0, 2049, 256)):
        column = reference.stft(wave[start : start + 1024], p0=2, p1=3)[:, 0]
        assert ours[k] == pytest.approx(np.abs(column) ** 2)


@pytest.mark.parametrize("count", [2, 5000])
def test_short_long_and_silent_sounds_are_drawn(count: int) -> None:
    silent = np.zeros((count, 2))
    seen = np.arange(count) % 2 == 0
    assert waveform_figure(silent, silent + 0.1, 100.0, seen).startswith(b"\x89PNG")
    assert spectrogram_figure(silent[:, 0], silent[:, 0], 100.0).startswith(b"\x89PNG")
