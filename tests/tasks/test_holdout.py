"""Samples held out: none of them is learned from, all of them judge."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.errors import UserError
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.tasks.holdout import HoldoutTask


def image(rows: int = 6, columns: int = 5) -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (rows, columns, 1), dtype=np.uint8)))


def test_every_sample_is_learned_from_or_judges() -> None:
    held = HoldoutTask(image(), share=0.2, seed=3)
    assert (len(held.validation), len(held.training)) == (6, 24)
    assert sorted([*held.validation.tolist(), *held.training.tolist()]) == list(range(30))
    assert torch.equal(held.validation, HoldoutTask(image(), share=0.2, seed=3).validation)
    assert not torch.equal(held.validation, HoldoutTask(image(), share=0.2, seed=4).validation)


def test_steps_are_cut_out_of_what_is_kept() -> None:
    held = HoldoutTask(image(), share=0.2)
    whole = torch.cat(list(held.pieces(0, 0, None, 7)))
    assert torch.equal(whole, held.training)
    some = torch.cat(list(held.pieces(0, 0, 10, 4)))
    assert len(some) == held.batch_size(10) == 10
    assert set(some.tolist()) <= set(held.training.tolist())
    assert held.batch_size(1000) == 24


def test_the_judge_sees_what_was_kept_back_alone() -> None:
    """A field that is 0.1 off: 20 dB; one that is right at the judging samples and wrong elsewhere is perfect."""
    task = image()
    held = HoldoutTask(task, share=0.2)
    x, y = task.load(torch.arange(30))
    values = {tuple(place): value for place, value in zip(x.tolist(), y.tolist(), strict=True)}
    judging = {tuple(place) for place in task.load(held.validation)[0].tolist()}

    def off(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([values[tuple(place)] for place in x.tolist()]) + 0.1

    def right_there(x: torch.Tensor) -> torch.Tensor:
        places = [tuple(place) for place in x.tolist()]
        return torch.tensor([values[p] if p in judging else [9.0] for p in places])

    assert held.judge(off) == pytest.approx(20, abs=1e-3)
    assert held.judge(right_there) > 100
    assert held.evaluate(off).metrics == {"psnr": pytest.approx(20, abs=1e-3)}


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(UserError, match="expected at least 5 seen samples to keep some back, got 2"):
        HoldoutTask(image(2, 1), share=0.2)
