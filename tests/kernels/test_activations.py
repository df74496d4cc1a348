"""Activations of other systems: by hand, their kernels against the plain functions, and what each is known for."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references

from alfilter.core import layers
from alfilter.core.activations import ACTIVATIONS, complex_wavelet, finer, finer_full, gauss, hosc, sinc, wavelet
from alfilter.kernels.activations import FORWARD, relu_backward, slope_backward
from alfilter.ops import perceptron

REAL = sorted(set(ACTIVATIONS) - {"complex-wavelet"})


@settings(max_examples=40)
@given(st.sampled_from(REAL), st.floats(-4, 4), st.floats(0.1, 40), st.floats(0.1, 20))
def test_by_its_formula(name: str, z: float, omega: float, sharpness: float) -> None:
    value = ACTIVATIONS[name](torch.tensor(z, dtype=torch.float64), omega, sharpness).item()
    assert value == pytest.approx(references.activated(z, name, omega, sharpness), abs=1e-9)


def test_complex_wavelet_is_that_of_complex_numbers() -> None:
    z = torch.randn(50, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 0.3
    w = torch.complex(z[:, :3], z[:, 3:])
    expected = torch.exp(1j * 7 * w - (3 * w).abs().square())
    torch.testing.assert_close(complex_wavelet(z, 7.0, 3.0), torch.cat((expected.real, expected.imag), dim=-1))


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
@pytest.mark.parametrize(("omega", "sharpness"), [(3.0, 2.0), (30.0, 30.0)])
def test_kernel_against_the_plain_function(name: str, omega: float, sharpness: float) -> None:
    """Values and slopes of the one-pass kernel are those of the plain function, differentiated by autograd."""
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(200, 8, generator=generator)
    z[0] = 0
    z[1] = 1e-4
    bias = torch.zeros(8) if name == "complex-wavelet" else torch.randn(8, generator=generator) * 0.1
    wide = (z + bias).double().requires_grad_()
    exact = ACTIVATIONS[name](wide, omega, sharpness)
    (slopes,) = torch.autograd.grad(exact.sum(), wide)
    value, slope = z.clone(), torch.empty_like(z)
    FORWARD[name](value.numpy(), bias.numpy(), np.float32(omega), np.float32(sharpness), slope.numpy())
    atol = 3e-5 if name != "hosc" else max(3e-5, 3e-7 * omega * sharpness)  # its slope times the rounding of the angle
    torch.testing.assert_close(value.double(), exact.detach(), rtol=0, atol=atol)
    if name != "complex-wavelet":  # whose Jacobian is applied, not stored
        torch.testing.assert_close(slope.double(), slopes, rtol=1e-4, atol=2e-5 * omega * sharpness)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_whole_network_against_the_plain_one(name: str) -> None:
    """Gradients in weights, biases and input, compiled and plain."""
    generator = torch.Generator().manual_seed(2)
    sizes = [(8, 3), (8, 8), (2, 8)]
    tensors = [torch.randn(shape, generator=generator) * 0.3 for shape in (*sizes, (8,), (8,), (2,))]
    x = torch.randn(40, 3, generator=generator)
    results = []
    for function, dtype in ((perceptron, torch.float32), (layers.perceptron, torch.float64)):
        inputs = [t.to(dtype).requires_grad_() for t in (x, *tensors)]
        out = function(inputs[0], inputs[1:4], inputs[4:], name, 3.0, 2.0)  # type: ignore[operator]
        results.append((out, *torch.autograd.grad(out.square().sum(), inputs)))
    for single, double in zip(*results, strict=True):
        torch.testing.assert_close(single.double(), double, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_nan_stays_nan(name: str) -> None:
    value, slope = torch.full((2, 4), math.nan), torch.empty(2, 4)
    FORWARD[name](value.numpy(), np.zeros(4, "f4"), np.float32(3), np.float32(2), slope.numpy())
    assert bool(value.isnan().all())


# ── what each is known for ───────────────────────────────────────────────────────────────────────────────────────────


@given(st.floats(1, 100))
def test_gauss_is_local(scale: float) -> None:
    """One at its centre, less than 10⁻⁴ three widths away: a neuron sees one place."""
    places = torch.tensor([0.0, 3.1 / scale, -3.1 / scale], dtype=torch.float64)
    assert gauss(places, 0.0, scale).tolist() == pytest.approx([1, 0, 0], abs=1e-4)


def test_wavelet_is_a_carrier_in_a_bump() -> None:
    z = torch.linspace(-2, 2, 401, dtype=torch.float64)
    assert bool((wavelet(z, 20.0, 3.0).abs() <= gauss(z, 0.0, 3.0)).all())
    spectrum = torch.fft.rfft(wavelet(z[:-1], 20.0, 3.0)).abs()
    assert spectrum.argmax().item() == pytest.approx(20 / (2 * math.pi) * 4, abs=1)  # cycles across 4 units


def test_sinc_is_band_limited() -> None:
    """Its spectrum is a box: flat below ω, nothing above."""
    z = torch.arange(-4096, 4096, dtype=torch.float64) / 16
    spectrum = torch.fft.rfft(torch.fft.ifftshift(sinc(z, 8.0, 0.0))).real / 16
    omega = 2 * math.pi * torch.arange(len(spectrum)) / 512
    inside, outside = spectrum[omega < 7.5], spectrum[omega > 8.5]
    assert inside.tolist() == pytest.approx([math.pi / 8] * len(inside), rel=0.02)
    assert outside.abs().max().item() < 0.01


def test_hosc_goes_from_a_sine_to_a_square_wave() -> None:
    z = torch.linspace(0.05, 1.0, 30, dtype=torch.float64)
    torch.testing.assert_close(hosc(z, 3.0, 1e-4) / 1e-4, torch.sin(3 * z), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(hosc(z, 3.0, 1e3), torch.ones_like(z), rtol=0, atol=1e-6)


@given(st.floats(0.01, 5))
def test_finer_oscillates_faster_away_from_zero(z: float) -> None:
    """The derivative of its phase is ω(2|z|+1), and the source's gradient, with the scale held fixed, ω(|z|+1)."""
    place = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    for function, expected in ((finer_full, 2 * z + 1), (finer, z + 1)):
        (slope,) = torch.autograd.grad(function(place, 1e-3, 0.0), place)  # sin is its argument when ω is small
        assert slope.item() == pytest.approx(1e-3 * expected, rel=1e-2)


def test_finer_has_more_zeros_away_from_zero() -> None:
    z = torch.linspace(0, 4, 40001, dtype=torch.float64)
    crossings = finer(z, 10.0, 0.0).sign().diff().abs() > 1
    near, far = crossings[:10000].sum().item(), crossings[-10000:].sum().item()
    assert far > 3 * near


def test_backward_scales_and_sums_by_hand() -> None:
    slope = np.array([[1, 0, 2], [3, -1, 1]], np.float32)
    grad, sums = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.zeros(3, np.float32)
    slope_backward(grad, slope, sums)
    assert grad.tolist() == [[1, 0, 6], [12, -5, 6]]
    assert sums.tolist() == [13, -5, 12]
    grad, sums = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.zeros(3, np.float32)
    relu_backward(grad, slope, sums)
    assert grad.tolist() == [[1, 0, 3], [4, 0, 6]]
    assert sums.tolist() == [5, 0, 9]
