"""A layer that multiplies with a Gabor filter, against loops."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core.gabor import gabor_product


def test_against_loops() -> None:
    draw = torch.Generator().manual_seed(0)
    shapes = [(4, 3), (3,), (4, 2), (3, 2), (3,), (3, 2), (3,)]
    a, bias, x, omega, phase, centre, gamma = (torch.randn(s, generator=draw, dtype=torch.float64) for s in shapes)
    product = gabor_product(a, bias, x, omega, phase, centre, gamma)
    for i in range(4):
        for k in range(3):
            angle = sum(float(omega[k, d] * x[i, d]) for d in range(2)) + float(phase[k])
            distance = sum(float(x[i, d] - centre[k, d]) ** 2 for d in range(2))
            expected = float(a[i, k] + bias[k]) * math.sin(angle) * math.exp(-0.5 * float(gamma[k]) * distance)
            assert product[i, k].item() == pytest.approx(expected, rel=1e-9)
