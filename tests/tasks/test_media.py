"""Tasks of sound, volumes and video: their scores against obvious twins."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.metrics.image import psnr, ssim
from alfilter.signals import GridSignal
from alfilter.tasks import AudioTask, LightFieldTask, VideoTask, VolumeTask


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


def test_a_light_field_is_scored_view_by_view() -> None:
    data = np.random.default_rng(1).integers(0, 256, (3, 2, 13, 12, 3)).astype(np.uint8)
    task = LightFieldTask.from_array(data, "views:0,0;2,1")

    def field(x: torch.Tensor) -> torch.Tensor:
        return (0.5 + 0.4 * torch.sin(3 * x @ torch.tensor([1.0, 2.0, 3.0, 1.0])))[:, None].expand(-1, 3)

    scores = task.evaluate(field)
    prediction, target = sample_grid(field, task.signal.shape), task.target()
    views = [ssim(a, b) for a, b in zip(prediction.flatten(0, 1), target.flatten(0, 1), strict=True)]
    assert scores.metrics["ssim"] == pytest.approx(np.mean(views), abs=1e-9)
    seen = [prediction[0, 0], prediction[2, 1]], [target[0, 0], target[2, 1]]
    assert scores.metrics["psnr"] == pytest.approx(psnr(*map(torch.cat, seen)), abs=1e-9)
    assert scores.heldout is not None
    assert scores.heldout["psnr"] < 20


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: VideoTask.from_array(np.zeros((1, 8, 8, 3))), "2 samples or more per axis, got (1, 8, 8, 3)"),
        (lambda: VolumeTask.from_array(np.full((3, 4, 5), np.nan)), "got 60 NaN or infinite, the first at (0, 0, 0)"),
        (lambda: VideoTask.from_array(np.full((3, 4, 5), np.inf)), "NaN or infinite"),
        (lambda: VolumeTask.from_array(np.zeros((4, 4))), "expected a volume (D, H, W) or (D, H, W, c)"),
        (lambda: AudioTask.from_array([1.0], 8000), "expected a sound (n,) or (n, c)"),
        (lambda: AudioTask.from_array([0.0, np.nan], 8000), "NaN or infinite"),
        (lambda: LightFieldTask.from_array(np.zeros((2, 2, 4, 4))), "expected a light field (u, v, y, x, 1 to 4)"),
        (lambda: LightFieldTask.from_array("lf.npz"), "expected an array for a light field, got the text 'lf.npz'"),
    ],
)
def test_arrays_that_are_no_such_signal(make: object, text: str) -> None:
    with pytest.raises(UserError) as caught:
        make()  # type: ignore[operator]
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
