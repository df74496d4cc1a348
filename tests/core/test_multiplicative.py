"""Networks of multiplied sines, against loops."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core.multiplicative import sine_filters

Pair = tuple[torch.Tensor, torch.Tensor]


def test_the_last_layers_have_outputs() -> None:
    draw = torch.Generator().manual_seed(0)

    def pair(*shape: int) -> Pair:
        return torch.randn(*shape, generator=draw, dtype=torch.float64), torch.randn(
            shape[0], generator=draw, dtype=torch.float64
        )

    filters, layers, heads = [pair(2, 1) for _ in range(3)], [pair(2, 2) for _ in range(2)], [pair(1, 2), pair(1, 2)]
    x = 0.3
    z = [math.sin(float(filters[0][0][k, 0]) * x + float(filters[0][1][k])) for k in range(2)]
    expected = []
    for (weight, bias), (omega, phase), (head, shift) in zip(layers, filters[1:], heads, strict=True):
        mixed = [sum(float(weight[k, j]) * z[j] for j in range(2)) + float(bias[k]) for k in range(2)]
        z = [mixed[k] * math.sin(float(omega[k, 0]) * x + float(phase[k])) for k in range(2)]
        expected.append(sum(float(head[0, k]) * z[k] for k in range(2)) + float(shift))
    point = torch.tensor([[x]], dtype=torch.float64)
    assert sine_filters(point, filters, layers, heads).flatten().tolist() == pytest.approx(expected)
    assert sine_filters(point, filters, layers, heads[1:]).flatten().tolist() == pytest.approx(expected[1:])
