"""Scores from a sample: near those of the whole, with an error that says how near."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from alfilter.evaluate import Evaluate
from alfilter.evaluate.estimated import estimated_scores, place_count, psnr_error, spread_index, tile_similarity
from alfilter.signals import GridSignal
from alfilter.tasks import AudioTask, GridTask, ImageTask, VideoTask, VolumeTask


@given(st.integers(1, 5000), st.integers(1, 300), st.integers(0, 9))
def test_one_position_in_every_part(total: int, count: int, seed: int) -> None:
    count = min(total, count)
    index = spread_index(total, count, seed)
    part = index * count // total
    edges = torch.arange(count + 1) * total // count
    assert bool(((index >= edges[:-1]) & (index < edges[1:])).all()), part
    assert len(index.unique()) == count


def off(task: GridTask, noise: float) -> Evaluate:
    """A field that knows the signal up to noise that depends on the place."""
    values = task.target().reshape(-1, task.out_dim)
    shape = torch.tensor(task.signal.shape)

    def field(x: Tensor) -> Tensor:
        index = ((x + 1) / 2 * (shape - 1)).round().long()
        flat = index[:, 0]
        for k in range(1, len(shape)):
            flat = flat * int(shape[k]) + index[:, k]
        return values[flat] + noise * torch.sin(1e4 * x.sum(-1, keepdim=True)) ** 3

    return field


def smooth(*shape: int) -> np.ndarray:
    axes = np.meshgrid(*(np.linspace(0, 3, n) for n in shape), indexing="ij")
    return 0.5 + 0.4 * np.sin(sum((k + 1) * axis for k, axis in enumerate(axes)))


@pytest.mark.parametrize(
    "task",
    [
        ImageTask.from_array(smooth(300, 200)),
        ImageTask.from_array(smooth(300, 200), observe="every:2"),
        VolumeTask.from_array(smooth(40, 40, 40)),
        VideoTask.from_array(smooth(12, 60, 80)),
        AudioTask.from_array(smooth(50_000) - 0.5, rate=8000),
    ],
    ids=lambda task: f"{task.signal.kind}-{task.observe}",
)
def test_estimates_are_within_their_errors(task: GridTask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.evaluate.estimated.SAMPLES", 6000)
    monkeypatch.setattr("alfilter.evaluate.estimated.WHOLE", 1000)
    monkeypatch.setattr("alfilter.tasks.grid.WHOLE", 1000)
    field = off(task, 0.1)
    whole, some = task.evaluate(field), task.estimate(field)
    assert some.estimate is not None
    assert (some.estimate.samples, some.estimate.total) == (6000, len(task.signal))
    assert set(some.metrics) == set(whole.metrics)
    for name, error in some.estimate.errors.items():
        assert 0 < error < 0.2
        assert some.metrics[name] == pytest.approx(whole.metrics[name], abs=4 * error), name
    if whole.heldout is not None:
        assert some.heldout is not None
        assert set(some.heldout) == set(whole.heldout)
        for name, value in whole.heldout.items():
            assert some.heldout[name] == pytest.approx(value, abs=0.5)


def test_tiles_that_cover_a_picture_give_its_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.evaluate.estimated.SIDE", 64)
    monkeypatch.setattr("alfilter.evaluate.estimated.TILES", 3)
    task = ImageTask.from_array(smooth(30, 40))
    field = off(task, 0.2)
    whole = task.evaluate(field).metrics["ssim"]
    assert tile_similarity(field, task.signal).tolist() == pytest.approx([whole] * 3, rel=1e-9)


def test_the_error_of_a_psnr_is_that_of_repeated_samples() -> None:
    """The spread of PSNRs over many samples of one population, which the formula estimates from one of them."""
    generator = torch.Generator().manual_seed(0)
    noise = 0.02 * torch.randn(400, 2000, 1, generator=generator)
    zeros = torch.full((2000, 1), 0.5)
    scores = [-10 * math.log10(float((part**2).mean())) for part in noise]
    errors = [psnr_error(zeros + part, zeros) for part in noise]
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=0.1)


def test_no_more_places_than_the_signal_has() -> None:
    assert place_count(GridSignal(np.zeros((50, 40, 1), np.uint8))) == 2000
    assert place_count(GridSignal(np.zeros((2000, 2000, 1), np.uint8))) < 500_000


def test_equal_values_have_no_error() -> None:
    signal = GridSignal(np.zeros((50, 40, 1), np.uint8))
    scores = estimated_scores(lambda x: torch.zeros(len(x), 1), signal, lambda a, b: {"psnr": math.inf})
    assert scores.estimate is not None
    assert scores.estimate.errors == {"psnr": 0.0, "ssim": 0.0}
