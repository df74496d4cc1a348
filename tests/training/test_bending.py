"""The penalty between the samples: worked by hand, seen to smooth, and told by the history."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.methods import Field, build
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import fit
from alfilter.training.bending import bending, second_differences


def sine(slope: float = 1.0) -> Field:
    """f(x) = sin(slope · x) in one dimension."""
    field = build("siren", in_dim=1, out_dim=1, width=1, depth=1, omega=1.0)
    numbers = [torch.tensor([[slope]]), torch.tensor([[1.0]]), torch.zeros(1), torch.zeros(1)]
    with torch.no_grad():
        for p, number in zip(field.network.parameters(), numbers, strict=True):
            p.copy_(number)
    return field


def test_second_differences_by_hand() -> None:
    x, h = torch.linspace(-0.5, 0.5, 7)[:, None], torch.full((7, 1), 0.25)
    (found,) = second_differences(x, h, sine(2.0))
    torch.testing.assert_close(found, -2 * (1 - torch.cos(2 * h)) * torch.sin(2 * x))


def value(field: Field, power: float, gap: float = 0.1) -> float:
    return bending(field, [gap] * field.in_dim, 4096, power, torch.Generator().manual_seed(0)).item()


def test_it_grows_with_the_frequency_and_a_line_does_not_bend() -> None:
    low, high = value(sine(2.0), 2.0), value(sine(8.0), 2.0)
    line = value(sine(1e-3), 2.0)
    assert line < low < high
    assert line == pytest.approx(0.01**2 * np.mean((0.5 * 8 ** np.linspace(0, 1, 2001)) ** -2), rel=0.05)


def test_the_places_and_their_neighbours_stay_inside() -> None:
    field = build("siren", in_dim=2, out_dim=1, width=4, depth=1)
    asked: list[torch.Tensor] = []
    field.encoding.register_forward_hook(lambda module, inputs, output: asked.append(inputs[0]))
    bending(field, [0.5, 0.02], 500, 1.0, torch.Generator().manual_seed(1))
    assert asked[0].shape == (1500, 2)
    assert float(asked[0].abs().max()) <= 1


def test_a_fit_with_the_penalty_bends_less_and_says_how_much() -> None:
    data = np.random.default_rng(0).integers(0, 256, (12, 12, 1), dtype=np.uint8)
    task = ImageTask(GridSignal(data), "every:2")
    fields = [build("siren", in_dim=2, out_dim=1, width=16, depth=2, omega=20.0) for _ in range(2)]
    for field, weight in zip(fields, (0.0, 0.1), strict=True):
        history = fit(field, task, steps=150, lr=2e-3, bend=weight, bend_power=2.0).history
        assert ("bend" in history[0]) == (weight > 0)
    free, bound = (value(field, 2.0, gap=task.gaps()[0]) for field in fields)
    assert bound < 0.5 * free


def test_the_distance_between_seen_samples() -> None:
    data = np.zeros((9, 17, 1), np.uint8)
    assert ImageTask(GridSignal(data)).gaps() == pytest.approx((0.25, 0.125))
    seen = ImageTask(GridSignal(np.zeros((10, 10, 1), np.uint8)), "random:0.25")
    assert seen.gaps() == pytest.approx((4 / 9, 4 / 9))
