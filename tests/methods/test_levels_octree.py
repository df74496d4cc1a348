"""A model with several levels of detail is drawn at any of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.support.commands import alfilter, complaint, picture

from alfilter.methods import build
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.signals import read_image
from alfilter.tasks import ImageTask
from alfilter.training import fit, save


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
