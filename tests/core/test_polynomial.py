"""Poly-INR's network: by hand, and its degree."""

from __future__ import annotations

import pytest
import torch

from alfilter.core.polynomial import polynomial


def one(value: float) -> torch.Tensor:
    return torch.tensor([[value]], dtype=torch.float64)


def test_by_hand() -> None:
    """Two levels of one neuron: z_0 = -2 + 1, l(3 z_0) = -1.5, times l(-2) = -1, is 1.5; the output is 2 l(1.5) + 1."""
    parts = [one(1), one(1)], [one(1)[0], one(0)[0]], [one(3), one(1), one(2)], [one(0)[0], one(0)[0], one(1)[0]]
    assert polynomial(one(-2.0), parts, 0.5).item() == pytest.approx(4.0)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_without_a_kink_it_is_a_polynomial_of_that_degree(levels: int) -> None:
    draw = torch.Generator().manual_seed(levels)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    sizes = [4] * levels + [1]
    maps, offsets = [random(4, 1) for _ in range(levels)], [random(4) for _ in range(levels)]
    parts = maps, offsets, [random(size, 4) for size in sizes], [random(size) for size in sizes]
    x = torch.linspace(-1, 1, levels + 3, dtype=torch.float64)
    values = polynomial(x[:, None], parts, 1.0).squeeze(-1)
    differences = [values]
    for _ in range(levels + 1):
        differences.append(differences[-1].diff())
    assert differences[levels].abs().max() > 1e-3
    assert differences[levels + 1].abs().max() < 1e-9
