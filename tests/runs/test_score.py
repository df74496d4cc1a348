"""A model scored against a signal: its own split where it has one, and the wrong signal in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import complaint, picture

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.methods import Field, build
from alfilter.metrics.image import psnr
from alfilter.runs.score import score_model
from alfilter.tasks import ImageTask
from alfilter.training import fit, load, save

HEIGHT, WIDTH = 11, 14


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("model")
    task = ImageTask.from_file(picture(home / "photo.png", HEIGHT, WIDTH), observe="every:2")
    field = build("siren", in_dim=2, out_dim=3, samples=task.samples, width=16, depth=1)
    fit(field, task, steps=20)
    save(field, home / "model.safetensors")
    return home / "model.safetensors"


@pytest.fixture(scope="module")
def field(model: Path) -> Field:
    return load(model)


def test_the_fitted_picture_is_split_as_it_was_fitted(field: Field, model: Path) -> None:
    scores = score_model(field, str(model.parent / "photo.png"))
    target = ImageTask.from_file(model.parent / "photo.png").target()
    prediction = sample_grid(field, (HEIGHT, WIDTH))
    seen = prediction[::2, ::2], target[::2, ::2]
    assert scores.metrics["psnr"] == pytest.approx(psnr(*seen), abs=1e-4)
    assert scores.heldout is not None
    assert scores.heldout["psnr"] != scores.metrics["psnr"]


def test_a_picture_of_another_size_is_scored_as_a_whole(field: Field, tmp_path: Path) -> None:
    scores = score_model(field, str(picture(tmp_path / "other.png", 20, 25)))
    assert scores.heldout is None
    assert set(scores.metrics) == {"psnr", "ssim"}


def test_a_signal_of_another_kind_is_refused(field: Field, model: Path, tmp_path: Path) -> None:
    gray = picture(tmp_path / "gray.png", channels=1)
    with pytest.raises(UserError, match=r"the model represents image, t\.csv is a table; give a signal of that kind"):
        score_model(field, "t.csv")
    with pytest.raises(UserError, match=r"fitted to a signal 2-D with 3 channels, .* is 2-D with 1; give a signal"):
        score_model(field, str(gray))
    assert "3 channels" in complaint("eval", model, gray)
