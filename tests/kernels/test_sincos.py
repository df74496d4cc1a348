"""Sine and cosine against double precision."""

from __future__ import annotations

import numpy as np

from alfilter.kernels.activations import sine_forward


def sine_and_slope(angles: np.ndarray, omega: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    z = angles.astype(np.float32).reshape(1, -1).copy()
    slope = np.empty_like(z)
    sine_forward(z, np.zeros(z.shape[1], np.float32), np.float32(omega), slope)
    return z[0], slope[0]


def test_sine_and_cosine_over_ten_thousand() -> None:
    angles = np.random.default_rng(0).uniform(-1e4, 1e4, 200_000).astype(np.float32)
    sine, cosine = sine_and_slope(angles)
    exact = angles.astype(np.float64)
    assert np.abs(sine - np.sin(exact)).max() < 3e-7
    assert np.abs(cosine - np.cos(exact)).max() < 3e-7


def test_quarter_turns() -> None:
    sine, cosine = sine_and_slope(np.arange(-4, 5) * np.pi / 2)
    assert np.round(sine).tolist() == [0, 1, 0, -1, 0, 1, 0, -1, 0]
    assert np.round(cosine).tolist() == [1, 0, -1, 0, 1, 0, -1, 0, 1]


def test_no_number_stays_none() -> None:
    sine, cosine = sine_and_slope(np.array([np.nan, np.inf, -np.inf]))
    assert np.isnan(sine).all()
    assert np.isnan(cosine).all()
