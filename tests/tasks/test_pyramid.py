"""Area means as samples: by hand, against adaptive pooling, and how a step is cut out of them."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import avg_pool2d

from alfilter.signals import GridSignal
from alfilter.tasks.pyramid import area_mean, pyramid


def signal(*shape: int) -> GridSignal:
    return GridSignal(np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8))


@given(st.integers(2, 9), st.integers(2, 9))
def test_area_means_are_those_of_pooling(height: int, width: int) -> None:
    values = torch.rand(height, width, 3)
    expected = avg_pool2d(values.permute(2, 0, 1), 2).permute(1, 2, 0)
    torch.testing.assert_close(area_mean(values), expected)


def test_levels_places_and_cycles() -> None:
    levels = pyramid(signal(16, 32))
    assert levels is not None
    assert levels.octaves == 2
    assert len(levels.x) == 8 * 16 + 4 * 8  # 1/8 would have two rows
    assert levels.cycles.unique().tolist() == [4.0, 8.0]
    first = signal(16, 32).values().view(16, 32, 3)[:2, :2].mean((0, 1))
    torch.testing.assert_close(levels.y[0], first)
    torch.testing.assert_close(levels.x[0], torch.tensor([0.5 * 2 / 15 - 1, 0.5 * 2 / 31 - 1]))  # between two samples


def test_a_step_sees_as_much_of_every_level() -> None:
    levels = pyramid(signal(64, 64))
    assert levels is not None
    rows = torch.cat(list(levels.pieces(3, 0, 480, 100)))
    assert [int(((levels.cycles[rows]) == cycles).sum()) for cycles in (16, 8, 4)] == [40, 40, 40]
    assert torch.equal(rows, torch.cat(list(levels.pieces(3, 0, 480, 7))))  # however it is cut
    x, y, cycles = levels.load(rows)
    assert (x.shape, y.shape, cycles.shape) == ((120, 2), (120, 3), (120,))


def test_small_signals_have_none() -> None:
    assert pyramid(signal(7, 40)) is None
