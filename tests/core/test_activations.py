"""Activations by hand, against loops, and where their gradient is special."""

from __future__ import annotations

import cmath
import math

import pytest
import torch
from tests.references import activated

from alfilter.core.activations import ACTIVATIONS, complex_wavelet, finer, finer_full, hosc, sinc

Z = torch.linspace(-2, 2, 41, dtype=torch.float64)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "complex-wavelet"])
def test_against_loops(name: str) -> None:
    expected = [activated(z, name, 3.0, 0.7) for z in Z.tolist()]
    torch.testing.assert_close(ACTIVATIONS[name](Z, 3.0, 0.7), torch.tensor(expected, dtype=torch.float64))


def test_the_complex_wavelet_is_that_of_complex_numbers() -> None:
    z = torch.tensor([0.5, -0.2, 0.1, 0.3], dtype=torch.float64)  # 0.5+0.1j, -0.2+0.3j
    first, second = (cmath.exp(3j * c - abs(2 * c) ** 2) for c in (0.5 + 0.1j, -0.2 + 0.3j))
    assert complex_wavelet(z, 3.0, 2.0).tolist() == pytest.approx([first.real, second.real, first.imag, second.imag])


def test_sinc_is_smooth_through_zero() -> None:
    z = torch.tensor([-1e-9, 0.0, 1e-9, 1 / 3 - 1e-9, 1 / 3 + 1e-9], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(sinc(z, 3.0, 0.0).sum(), z)
    assert slope[:3].abs().max() < 1e-8
    assert slope[3].item() == pytest.approx(slope[4].item(), abs=1e-6), "the series meets the quotient"


def test_hosc_goes_from_a_sine_to_a_square_wave() -> None:
    torch.testing.assert_close(hosc(Z, 2.0, 1e-4) / 1e-4, torch.sin(2 * Z), atol=1e-6, rtol=0)
    away = torch.sin(2 * Z).abs() > 0.1
    torch.testing.assert_close(hosc(Z, 2.0, 1e4)[away], torch.sin(2 * Z)[away].sign())


def test_finer_holds_its_stretch_fixed_in_the_gradient() -> None:
    """At z = 0.5, ω = 2: the argument is 1.5; its slope is ω(|z|+1) = 3 with the stretch fixed, ω(2|z|+1) = 4 whole."""
    for function, slope in ((finer, 3.0), (finer_full, 4.0)):
        z = torch.tensor(0.5, requires_grad=True)
        (grad,) = torch.autograd.grad(function(z, 2.0, 0.0), z)
        assert grad.item() == pytest.approx(slope * math.cos(1.5))
