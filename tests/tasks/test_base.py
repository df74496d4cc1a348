"""Mini-batches that depend on the seed and the step alone."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.evaluate import Scores
from alfilter.tasks import base as base_module
from alfilter.tasks.base import EpochSampler, step_generator


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.data())
def test_an_epoch_shows_no_sample_twice(count: int, data: st.DataObject) -> None:
    batch, seed = data.draw(st.integers(1, count)), data.draw(st.integers(0, 1 << 62))
    sampler, epoch = EpochSampler(count), data.draw(st.integers(0, 5))
    steps = count // batch
    shown = torch.cat([sampler.index(epoch * steps + k, seed, batch) for k in range(steps)])
    assert len(shown) == steps * batch
    assert len(set(shown.tolist())) == len(shown)
    assert 0 <= int(shown.min()) <= int(shown.max()) < count


@given(st.integers(0, 500), st.integers(0, 100))
def test_the_order_of_asking_does_not_matter(step: int, seed: int) -> None:
    fresh, used = EpochSampler(50), EpochSampler(50)
    for other in (step + 7, 0, step + 1):
        used.index(other, seed + 1, 8)
    assert torch.equal(fresh.index(step, seed, 8), used.index(step, seed, 8))


def test_epochs_and_seeds_differ() -> None:
    sampler = EpochSampler(40)
    draws = [tuple(sampler.index(step, seed, 40).tolist()) for step in (0, 1) for seed in (0, 1)]
    assert len(set(draws)) == 4


def test_huge_signals_are_drawn_from_without_a_permutation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_module, "_PERMUTED", 10)
    sampler = EpochSampler(1000)
    index = sampler.index(3, 1, 200)
    assert torch.equal(index, EpochSampler(1000).index(3, 1, 200))
    assert not torch.equal(index, sampler.index(4, 1, 200))
    assert 0 <= int(index.min()) <= int(index.max()) < 1000


def test_step_generators_take_any_seed() -> None:
    assert step_generator(2**63 - 1, 10**9).initial_seed() >= 0
    assert step_generator(3, 4).initial_seed() == step_generator(3, 4).initial_seed()


def test_scores_for_json() -> None:
    assert Scores({"psnr": float("inf")}, {"psnr": float("nan")}).plain() == {
        "metrics": {"psnr": None},
        "heldout": {"psnr": None},
        "estimate": None,
    }
