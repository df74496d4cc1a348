"""One way to fit: whoever asks, the same setting gives the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.commands import alfilter, picture, without_figures

from alfilter.config import Training
from alfilter.errors import UserError
from alfilter.runs import fit_task, resolve
from alfilter.runs.fitting import prepare
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import load

SMALL = {"width": 8, "depth": 1, "levels": 3, "grid": 4}


def image(observe: str = "all") -> ImageTask:
    pixels = np.random.default_rng(0).integers(0, 255, (8, 8, 1), dtype=np.uint8)
    return ImageTask(GridSignal(pixels), observe)


def same(left: Any, right: Any) -> bool:
    numbers = left.state_dict(), right.state_dict()
    return all(torch.equal(value, numbers[1][name]) for name, value in numbers[0].items())


def test_the_command_and_the_library_train_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Preset `paper` on half the samples: density, total variation and the numbers at the end."""
    without_figures(monkeypatch)
    photo = picture(tmp_path / "photo.png")
    words = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    command = ("fit", photo, "--preset", "paper", "--observe", "every:2", "--steps", "5", *words)
    outcome = alfilter(*command, "--threads", "1", "--seed", "3", "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.err
    task = ImageTask.from_file(photo, "every:2", 3)
    fitted = fit_task(task, "al-sine", preset="paper", options=SMALL, training={"steps": 5}, seed=3)
    stored = json.loads((tmp_path / "run" / "config.json").read_text())
    assert Training(**stored["training"]) == fitted.training
    assert fitted.training.tv == 1e-3 / 3
    assert same(load(tmp_path / "run" / "model.safetensors"), fitted.field)
    line = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert line["heldout"] == task.evaluate(fitted.field).plain()["heldout"]


def test_the_result_says_what_was_done() -> None:
    task = image()
    fitted = fit_task(task, "siren", options={"width": 8, "depth": 1}, training={"steps": 4})
    assert fitted.task is task
    assert fitted.result.steps == fitted.training.steps == 4
    assert fitted.field.spec["preset"] == fitted.preset == "default"
    assert fitted.field.signal["kind"] == "image"


def test_hooks_reach_the_loop(tmp_path: Path) -> None:
    steps: list[int] = []
    fit_task(
        image(), "siren", options={"width": 8, "depth": 1}, training={"steps": 3}, checkpoint=tmp_path / "state",
        on_progress=lambda progress: steps.append(progress.step),
    )  # fmt: skip
    assert steps == [1, 2, 3]
    assert (tmp_path / "state").exists()


def test_the_seed_is_that_of_the_start_and_of_the_sampling() -> None:
    def fitted(seed: int) -> Any:
        return fit_task(image(), "siren", options={"width": 8}, training={"steps": 2, "batch": 16}, seed=seed).field

    assert same(fitted(1), fitted(1))
    assert not same(fitted(1), fitted(2))


def test_a_prepared_field_is_not_trained_yet() -> None:
    task = image("every:2")
    setting = resolve(task, "al-sine", preset="reconstruct", options={"width": 8, "depth": 1}, training={"steps": 2})
    prepared = prepare(task, setting, seed=1)
    before = {name: value.clone() for name, value in prepared.field.state_dict().items()}
    fitted = prepared.fit()
    assert fitted.field is prepared.field
    assert any(not torch.equal(value, before[name]) for name, value in fitted.field.state_dict().items())


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'width'"):
        fit_task(image(), "siren", options={"widht": 8})
    with pytest.raises(UserError, match="training has no option 'step'; did you mean 'steps'"):
        fit_task(image(), "siren", training={"step": 8})
