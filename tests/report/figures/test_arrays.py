"""The arrays under the figures, against hand-worked cases and Parseval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.report.figures.arrays import (
    curve,
    error_map,
    radial_spectrum,
    tapered,
    wants_log_steps,
)

sides = st.integers(1, 12)
seeds = st.integers(0, 2**32 - 1)


def test_error_map_by_hand() -> None:
    pred, target = np.array([[[0.0, 0.0, 0.0]]]), np.array([[[0.3, 0.6, -0.9]]])
    assert error_map(pred, target) == pytest.approx(np.array([[0.6]]))
    assert error_map(pred[..., 0], target[..., 1]) == pytest.approx(np.array([[0.6]]))


def test_error_map_does_not_wrap_bytes() -> None:
    assert error_map(np.array([[0]], dtype=np.uint8), np.array([[255]], dtype=np.uint8))[0, 0] == 255.0


def test_error_map_names_both_shapes() -> None:
    with pytest.raises(UserError, match=r"one shape .* got \(2, 2\) and \(2, 3\)"):
        error_map(np.zeros((2, 2)), np.zeros((2, 3)))


@pytest.mark.parametrize("cycles", [1, 3, 8, 20, 31])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_sinusoid_peaks_at_its_frequency(cycles: int, axis: int) -> None:
    wave = np.sin(2 * np.pi * cycles * np.arange(64) / 64)
    image = np.broadcast_to(wave[:, None] if axis == 0 else wave, (64, 64))
    frequencies, power = radial_spectrum(image)
    assert frequencies[np.argmax(power)] == pytest.approx(cycles / 64)


def test_a_sinusoid_peaks_at_its_frequency_when_the_image_is_not_square() -> None:
    image = np.broadcast_to(np.cos(2 * np.pi * 0.25 * np.arange(96)), (32, 96))
    frequencies, power = radial_spectrum(image)
    assert frequencies[np.argmax(power)] == pytest.approx(0.25)


@given(sides, sides, seeds)
def test_ring_sums_give_the_mean_square(height: int, width: int, seed: int) -> None:
    image = np.random.default_rng(seed).normal(size=(height, width))
    frequencies, power = radial_spectrum(image)
    fy, fx = np.meshgrid(np.fft.fftfreq(height), np.fft.fftfreq(width), indexing="ij")
    nearest = np.abs(np.hypot(fy, fx)[..., None] - frequencies).argmin(-1)
    # Half-way radii go up; argmin would send them down.
    exact = np.isclose(np.hypot(fy, fx) * min(height, width) % 1, 0.5, atol=1e-7)
    rings = np.where(exact, np.round(np.hypot(fy, fx) * min(height, width) + 0.5).astype(int), -1)
    for k, frequency in enumerate(frequencies):
        nearest[rings == round(frequency * min(height, width))] = k
    counts = np.bincount(nearest.ravel(), minlength=len(power))
    assert (counts * power).sum() == pytest.approx((image**2).mean())


@given(sides, sides, seeds, st.floats(-5, 5))
def test_spectrum_is_quadratic_and_blind_to_shifts(height: int, width: int, seed: int, factor: float) -> None:
    image = np.random.default_rng(seed).normal(size=(height, width))
    power = radial_spectrum(image)[1]
    np.testing.assert_allclose(radial_spectrum(factor * image)[1], factor**2 * power, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(radial_spectrum(np.roll(image, (1, 2), (0, 1)))[1], power, rtol=1e-9, atol=1e-14)


def test_spectrum_wants_a_map() -> None:
    with pytest.raises(UserError, match=r"image must be a map \(H, W\) .* got shape \(2, 2, 3\)"):
        radial_spectrum(np.zeros((2, 2, 3)))


def test_taper_removes_the_border_of_a_ramp() -> None:
    ramp = np.broadcast_to(np.linspace(0, 1, 64), (64, 64))
    plain, soft = (radial_spectrum(image)[1] for image in (ramp, tapered(ramp)))
    assert soft[25:32].sum() < 1e-3 * plain[25:32].sum()
    assert np.isfinite(tapered(np.ones((1, 1)))).all()


def test_curve_drops_what_is_not_a_finite_number() -> None:
    history: list[dict[str, object]] = [
        {"step": 0, "psnr": 10.0},
        {"step": 1, "psnr": float("nan")},
        {"step": 2, "psnr": float("inf")},
        {"step": 3},
        {"psnr": 3.0},
        {"step": 4, "psnr": "x"},
        {"step": 5, "psnr": 20},
    ]
    steps, values = curve(history, "psnr")
    assert (steps.tolist(), values.tolist()) == ([0, 5], [10, 20])
    assert [len(part) for part in curve([], "psnr")] == [0, 0]


def test_log_steps_need_two_decades() -> None:
    assert wants_log_steps(np.array([0.0, 1.0, 100.0]))
    assert not wants_log_steps(np.array([0.0, 10.0, 100.0]))
    assert not wants_log_steps(np.array([]))
