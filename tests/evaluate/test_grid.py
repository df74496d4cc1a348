"""A field on a grid: at the signal's own places, and the same in one pass or in many."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.evaluate import axis_coords, passes, sample_axes, sample_grid
from alfilter.signals import grid_coords


def echo(x: Tensor) -> Tensor:
    return x


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_a_grid_is_sampled_where_the_signal_was(shape: list[int]) -> None:
    sampled = sample_grid(echo, tuple(shape))
    assert torch.equal(sampled.reshape(-1, len(shape)), grid_coords(tuple(shape)))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3000), st.data())
def test_places_that_are_samples_have_their_coordinates(samples: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, samples - 1))
    last = data.draw(st.integers(first, samples - 1))
    whole = axis_coords(samples, 0, samples - 1, samples)
    assert torch.equal(whole.unsqueeze(1), grid_coords((samples,)))
    assert torch.equal(axis_coords(last - first + 1, first, last, samples), whole[first : last + 1])
    assert torch.equal(axis_coords(2 * samples - 1, 0, samples - 1, samples)[::2], whole)


@pytest.mark.parametrize("limits", [(1 << 14, 64), (64, 64), (128, 1)])
def test_many_passes_give_what_one_gives(limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "POINTS", limits[0])
    monkeypatch.setattr(passes, "_ROWS", limits[1])
    axes = [torch.linspace(-1, 1, 17), torch.linspace(0, 1, 31)]
    sampled: Any = sample_axes(echo, axes)
    assert torch.equal(sampled, torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1))
