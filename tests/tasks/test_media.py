"""Tasks of sound, volumes and video: their scores against obvious twins."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.evaluate import sample_grid
from alfilter.metrics.image import psnr, ssim
from alfilter.signals import GridSignal
from alfilter.tasks import AudioTask, VolumeTask


def wave_signal(count: int = 60, channels: int = 2) -> GridSignal:
    data = np.random.default_rng(0).integers(-900, 1000, (count, channels)).astype(np.int16)
    return GridSignal(data, kind="audio", span=(-1000, 1000), facts={"rate": 100})


def test_snr_stands_beside_psnr_for_seen_and_held_out_samples() -> None:
    task = AudioTask(wave_signal(), "every:3")
    prediction = task.target() + 0.01
    prediction[::3] += 0.01
    scores = task.compare(prediction, task.target())
    truth = task.target().double() - 0.5
    assert scores.heldout is not None
    for got, rows, error in (
        (scores.metrics, np.arange(60) % 3 == 0, 0.02),
        (scores.heldout, np.arange(60) % 3 > 0, 0.01),
    ):
        assert list(got) == ["psnr", "snr"]
        assert got["psnr"] == pytest.approx(-20 * np.log10(error), abs=0.05)
        power = float(truth[torch.from_numpy(rows)].square().mean())
        assert got["snr"] == pytest.approx(10 * np.log10(power / error**2), abs=0.01)


def grid(kind: str, channels: int) -> GridSignal:
    data = np.random.default_rng(1).integers(0, 256, (5, 13, 12, channels)).astype(np.uint8)
    return GridSignal(data, kind=kind, facts={"rate": 25.0})


def field(x: torch.Tensor) -> torch.Tensor:
    return (0.5 + 0.4 * torch.sin(3 * x @ torch.tensor([1.0, 2.0, 3.0])))[:, None].expand(-1, 3)


def test_a_video_is_scored_in_slabs_as_a_whole() -> None:
    task = VolumeTask(grid("video", 3))
    scores = task.evaluate(field)
    prediction, target = sample_grid(field, task.signal.shape), task.target()
    assert scores.metrics["psnr"] == pytest.approx(psnr(prediction.flatten(0, 1), target.flatten(0, 1)), abs=1e-9)
    frames = [ssim(a, b) for a, b in zip(prediction, target, strict=True)]
    assert scores.metrics["ssim"] == pytest.approx(np.mean(frames), abs=1e-9)
    assert scores.heldout is None


def test_a_volume_has_no_structure_score_and_splits_what_was_seen() -> None:
    task = VolumeTask(grid("volume", 3), "random:0.3", seed=2)
    scores, whole = task.evaluate(field), task.compare(sample_grid(field, task.signal.shape), task.target())
    assert list(scores.metrics) == ["psnr"]
    assert scores.heldout is not None
    assert scores.metrics["psnr"] == pytest.approx(whole.metrics["psnr"], abs=1e-9)
    assert scores.heldout["psnr"] == pytest.approx((whole.heldout or {})["psnr"], abs=1e-9)
