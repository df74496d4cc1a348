"""What a finished run shows: its files by the kind of its signal."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import without_figures

from alfilter.methods import build
from alfilter.report.artifacts import PICTURES_OF, _observed, draw_picture
from alfilter.runs.folder import RunFolder
from alfilter.signals import GridSignal, read_image
from alfilter.tasks import ImageTask
from alfilter.tasks.open import TASKS


def test_every_kind_has_a_function_that_draws_it() -> None:
    assert set(PICTURES_OF) == {*TASKS, "points"}
    for place in PICTURES_OF.values():
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(module), name))


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
