"""The mean of the weights: by hand, against the weighted sum it stands for, and through a training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.methods import Field, build
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import fit
from alfilter.training.average import Average


def field() -> Field:
    return build("siren", in_dim=2, out_dim=1, width=4, depth=1)


def task(observe: str = "all") -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (8, 8, 1), dtype=np.uint8)), observe)


def fill(one: Field, number: float) -> None:
    with torch.no_grad():
        for p in one.parameters():
            p.fill_(number)


def test_by_hand() -> None:
    one = field()
    for share, expected in ((1.0, (1 + 2 + 6) / 3), (0.5, (1 * 1 + 2 * 2 + 3 * 6) / 6)):
        average = Average(one, share)
        for number in (1.0, 2.0, 6.0):
            fill(one, number)
            average.update(one)
        average.give_to(one)
        assert {round(v, 5) for p in one.parameters() for v in p.flatten().tolist()} == {round(expected, 5)}


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 1.0), st.lists(st.floats(-2, 2), min_size=1, max_size=12))
def test_it_is_a_mean(share: float, numbers: list[float]) -> None:
    one = field()
    average = Average(one, share)
    for number in numbers:
        fill(one, number)
        average.update(one)
    found = float(average.values[0].flatten()[0])
    assert min(numbers) - 1e-4 <= found <= max(numbers) + 1e-4


def test_an_encoding_that_rearranges_itself_begins_again() -> None:
    one = build("octree", in_dim=2, out_dim=1)
    average = Average(one, 1.0)
    average.update(one)
    average.update(one)
    assert average.count == 2
    next(iter(one.encoding.buffers())).add_(1)
    fill(one, 3.0)
    average.update(one)
    assert average.count == 1
    assert float(average.values[0].flatten()[0]) == 3.0


def test_a_fit_ends_in_the_mean_of_its_steps_and_resumes_to_the_same(tmp_path: Path) -> None:
    steps: list[list[torch.Tensor]] = []
    plain, meant, cut = field(), field(), field()
    fit(plain, task(), steps=6, on_progress=lambda p: steps.append([w.detach().clone() for w in plain.parameters()]))
    fit(meant, task(), steps=6, average=1.0)
    for found, *all_steps in zip(meant.parameters(), *steps, strict=True):
        torch.testing.assert_close(found.data, torch.stack(all_steps).mean(0))
    count = 0

    def stop() -> bool:
        nonlocal count
        count += 1
        return count > 6

    state = tmp_path / "state.safetensors"
    assert not fit(cut, task(), steps=6, average=1.0, checkpoint=state, should_stop=stop).finished
    again = field()
    fit(again, task(), steps=6, average=1.0, checkpoint=state)
    ended = field()  # a finished run read again is the same field
    fit(ended, task(), steps=6, average=1.0, checkpoint=state)
    for a, b, c in zip(meant.parameters(), again.parameters(), ended.parameters(), strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a, c)


def test_without_a_training_the_preset_hears_how_dense_the_samples_are() -> None:
    sparse = task("random:0.25")
    one = build("al-sine", in_dim=2, out_dim=1, preset="paper", samples=(8, 8), width=8, depth=1, levels=2)
    result = fit(one, sparse, steps=1)
    assert "tv" in result.history[0], "the paper's loss for missing samples has total variation"
    assert "tv" not in fit(one, task(), steps=1).history[0]
    density = sparse.density()
    assert density is not None
    assert density.gap == pytest.approx(2.0)
