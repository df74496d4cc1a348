"""A fitted picture shown: its files, and the figure of gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import without_figures

from alfilter.methods import build
from alfilter.render.run.image import _observed, draw_picture, sparse_figure
from alfilter.report.page.document import png_size
from alfilter.runs.folder import RunFolder
from alfilter.signals import GridSignal, read_image
from alfilter.tasks import ImageTask


@pytest.mark.parametrize(("channels", "with_alpha"), [(3, True), (1, False)])
def test_six_panels_or_five(channels: int, with_alpha: bool) -> None:
    truth = np.random.default_rng(0).random((8, 12, channels)).astype(np.float32)
    seen = np.zeros((8, 12), bool)
    seen[::2, ::2] = True
    alpha = np.linspace(0, 7, 96).reshape(8, 12) if with_alpha else None
    data = sparse_figure(truth, truth + 0.1, seen, alpha, {"seen": 20.0, "unseen": float("inf")})
    width, height = png_size(data)
    assert width > 1000
    assert height > 400


def test_seen_samples_stand_on_black() -> None:
    target = np.arange(1.0, 5.0).reshape(2, 2, 1)
    assert _observed(target, np.array([0, 3])).ravel().tolist() == [1, 0, 0, 4]


@pytest.mark.parametrize("observe", ["all", "every:2"])
def test_the_pictures_of_a_picture(observe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    data = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    task = ImageTask(GridSignal(data), observe)
    field = build("siren", in_dim=2, out_dim=3, width=4)
    draw_picture(RunFolder(tmp_path), field, task, task.evaluate(field))
    gaps = {"observed.png", "sparse.png"} if observe != "all" else set()
    names = {"reference.png", "reconstruction.png", "error.png", "spectrum.png"} | gaps
    assert {file.name for file in tmp_path.iterdir()} == names, "no α, no map of it"
    assert np.array_equal(read_image(tmp_path / "reference.png").data, data)
