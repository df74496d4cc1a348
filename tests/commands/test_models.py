"""`render`, `eval`, `mesh`, `info`: a model with several levels of detail is drawn at any of them; facts of a model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.support.commands import alfilter, complaint, picture, without_figures

from alfilter.methods import build
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.signals import read_image
from alfilter.tasks import ImageTask
from alfilter.training import fit, save
from alfilter.training.modelfile import read_tensors, write_tensors


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("detail")
    task = ImageTask.from_file(picture(home / "photo.png"))
    field = build("octree", in_dim=2, out_dim=3, samples=task.samples, levels=2, base=2, features=2, width=8)
    fit(field, task, steps=5)
    save(field, home / "model.safetensors")
    coarse, fine = (render(field, View(level=level)) for level in (1, 2))
    assert torch.equal(fine, render(field, View()))
    assert not torch.equal(coarse, fine)
    return home / "model.safetensors"


def test_every_level_can_be_asked_for(model: Path, tmp_path: Path) -> None:
    for level in ("1", "2"):
        assert alfilter("render", model, tmp_path / f"{level}.png", "--level", level).code == 0
    assert read_image(tmp_path / "1.png").data.shape == (12, 10, 3)
    assert (tmp_path / "1.png").read_bytes() != (tmp_path / "2.png").read_bytes()


def test_a_level_that_is_not_there_is_refused(model: Path, tmp_path: Path) -> None:
    assert "level must be between 1 and 2 for octree, got 3" in complaint(
        "render", model, tmp_path / "x.png", "--level", "3"
    )


def test_levels_of_a_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    source, folder = picture(tmp_path / "photo.png"), tmp_path / "out"
    words = ("--steps", "5", "--out", folder, "--quiet", "--set", "width=16", "--set", "shares=1x1x2", "--threads", "1")
    assert alfilter("fit", source, "--method", "bacon", *words).code == 0
    model = folder / "model.safetensors"
    for level in ("1", "2"):
        assert alfilter("render", model, tmp_path / f"{level}.png", "--level", level).code == 0
    assert alfilter("render", model, tmp_path / "all.png").code == 0
    pictures = {name: read_image(tmp_path / f"{name}.png").data for name in ("1", "2", "all")}
    assert (pictures["2"] == pictures["all"]).all()
    assert (pictures["1"] != pictures["all"]).any()
    message = complaint("render", model, tmp_path / "3.png", "--level", "3")
    assert message == "level must be between 1 and 2 for bacon, got 3"


def test_words_of_a_file_do_nothing_to_the_terminal(model: Path, tmp_path: Path) -> None:
    header, tensors = read_tensors(model)
    header["signal"]["source"] = header["signal"]["\x1b[2J"] = "\x1b]0;title\x07"
    write_tensors(tmp_path / "m", tensors, header)
    out = alfilter("info", tmp_path / "m").out
    assert "\x1b" not in out
    assert "signal.\\x1b[2J" in out
    write_tensors(tmp_path / "m", tensors, {**header, "options": {"\x9b2J": 1}})
    assert "\x9b" not in complaint("info", tmp_path / "m")


def test_lpips_without_weights_names_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALFILTER_LPIPS", raising=False)
    source = picture(tmp_path / "photo.png", 32, 32)
    field = build("siren", in_dim=2, out_dim=3, width=4)
    field.signal = ImageTask.from_file(source).describe()
    save(field, tmp_path / "m.safetensors")
    words = ("eval", tmp_path / "m.safetensors", source, "--lpips")
    assert complaint(*words).endswith("got none; give --lpips FILE or set ALFILTER_LPIPS to its path")
    assert "it is no npz file" in complaint(*words, source)
