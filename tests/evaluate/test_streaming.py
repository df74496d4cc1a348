"""In bands: the scores of the whole, the values of the whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.support.commands import TINY, alfilter, complaint, without_figures
from torch import Tensor

from alfilter.evaluate import Evaluate, Scores, axis_coords, sample_grid
from alfilter.evaluate.streaming import bands, is_large, middle, picture_step, reduced, streamed_scores
from alfilter.runtime.thread_pool import single_threaded_ops
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask, ImageTask


def wavy(x: Tensor) -> Tensor:
    """A field that is not the picture, and leaves [0, 1] here and there."""
    return torch.stack((torch.sin(9 * x[:, 0]), torch.cos(7 * x[:, 1]), x.prod(-1) + 0.3), dim=-1)


def task(height: int, width: int, observe: str = "all") -> ImageTask:
    pixels = np.random.default_rng(height).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return ImageTask(GridSignal(pixels), observe)


def scored_in_bands(field: Evaluate, example: ImageTask, band: int) -> Scores:
    mask = example.seen_mask()
    seen = None if mask is None else mask.view(example.signal.shape)
    return streamed_scores(field, example.signal, seen, between=example.observe == "every:2", band=band)


@given(st.integers(2, 150), st.integers(2, 40), st.sampled_from(["all", "every:2", "random:0.3"]), st.integers(1, 2))
def test_scores_in_bands_are_those_of_the_whole(height: int, width: int, observe: str, band: int) -> None:
    example = task(height, width, observe)
    streamed, whole = scored_in_bands(wavy, example, 64 * band), example.evaluate(wavy)
    assert streamed.metrics == pytest.approx(whole.metrics, rel=1e-12)
    assert streamed.heldout == (None if whole.heldout is None else pytest.approx(whole.heldout, rel=1e-12, nan_ok=True))


def test_bands_are_rows_of_the_whole() -> None:
    whole = sample_grid(wavy, (20, 9))
    axes = axis_coords(20, 0, 19, 20), axis_coords(9, 0, 8, 9)
    parts = list(bands(wavy, axes, rows=6))
    assert [start for start, _ in parts] == [0, 6, 12, 18]
    assert torch.equal(torch.cat([values for _, values in parts]), whole)


def test_a_reduced_view_holds_every_kth_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    small = task(20, 9)
    assert torch.equal(reduced(wavy, small.signal)[0], sample_grid(wavy, (20, 9)))
    monkeypatch.setattr("alfilter.evaluate.streaming.WHOLE", 100)
    monkeypatch.setattr("alfilter.evaluate.streaming._DRAWN", 60)
    assert picture_step((20, 9)) == 2
    prediction, target = reduced(wavy, small.signal)
    assert torch.equal(prediction, sample_grid(wavy, (20, 9))[::2, ::2])
    assert torch.equal(target, small.target()[::2, ::2])


def test_the_middle_is_at_full_resolution() -> None:
    square = task(20, 9)
    prediction, target = middle(wavy, square.signal, size=6)
    assert torch.equal(prediction, sample_grid(wavy, (20, 9))[7:13, 1:7])
    assert torch.equal(target, square.target()[7:13, 1:7])


def test_only_pictures_are_large() -> None:
    assert is_large((5000, 5000))
    assert not is_large((300, 300, 300))
    assert not is_large((4096, 4096))
    assert isinstance(task(4, 4), GridTask)


def test_a_large_picture_from_fit_to_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way with a limit small enough for a test: fit, report, eval and render agree with the plain way."""
    without_figures(monkeypatch)
    rows, columns, channels = np.mgrid[0:70, 0:40, 0:3]
    np.save(tmp_path / "a.npy", (127 + 100 * np.sin(rows / 9 + columns / 7 + channels)).astype(np.uint8))
    words = ("fit", tmp_path / "a.npy", *TINY, "--steps", "3", "--quiet", "--json")
    plain = alfilter(*words, "--out", tmp_path / "plain")
    for name, limit in (("LARGE", 1000), ("WHOLE", 1000), ("_DRAWN", 700)):
        monkeypatch.setattr(f"alfilter.evaluate.streaming.{name}", limit)
    monkeypatch.setattr("alfilter.tasks.grid.GridTask.is_estimated", False)
    monkeypatch.setattr("alfilter.tasks.grid.GridTask.scored_places", lambda task: len(task.signal))
    streamed = alfilter(*words, "--out", tmp_path / "streamed")
    assert (plain.code, streamed.code) == (0, 0), streamed.err
    scores = [json.loads(outcome.out)["metrics"] for outcome in (plain, streamed)]
    assert scores[1] == pytest.approx(scores[0], rel=1e-9)
    assert "every 2nd pixel of 40x70" in (tmp_path / "streamed" / "report.html").read_text()
    assert "every 2nd pixel" not in (tmp_path / "plain" / "report.html").read_text()
    model = tmp_path / "streamed" / "model.safetensors"
    judged = json.loads(alfilter("eval", model, tmp_path / "a.npy", "--json").out)
    assert judged["metrics"] == pytest.approx(scores[0], rel=1e-6)
    assert "too large for that" in complaint("eval", model, tmp_path / "a.npy", "--lpips")


def test_tall_frames_are_scored_on_two_cores() -> None:
    """Frames are compared side by side, and so are the strips of a frame."""
    frames = np.random.default_rng(0).integers(0, 256, (3, 80, 16, 1), dtype=np.uint8)
    signal = GridSignal(frames, kind="video")
    before = torch.get_num_threads()
    try:
        scores = []
        for count in (1, 2):
            torch.set_num_threads(count)
            with single_threaded_ops():
                scores.append(streamed_scores(lambda x: x.sum(-1, keepdim=True) / 3, signal).metrics["ssim"])
    finally:
        torch.set_num_threads(before)
    assert scores[0] == scores[1]
