"""`--auto` and the preset for missing samples: what is chosen, from what, and how long it takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import alfilter, complaint, picture, without_figures

from alfilter.config import Training
from alfilter.errors import UserError
from alfilter.methods import Density, preset, training
from alfilter.runs.auto import Choice, choose, explain
from alfilter.runs.fitting import fit_task
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.tasks.holdout import HoldoutTask

SMALL = {"width": 16, "depth": 1}


def task(observe: str = "random:0.5", size: int = 16) -> ImageTask:
    axis = np.linspace(0, 3, size)
    data = (np.sin(axis)[:, None] * np.cos(2 * axis)[None] + 1)[..., None].astype(np.float32)
    return ImageTask(GridSignal(data, span=(0.0, 2.0)), observe)


def test_the_settings_follow_the_density() -> None:
    coarse, fine = (preset("al-sine", "reconstruct").options_at(Density(2, seen)) for seen in (32.0, 256.0))
    assert coarse["omega"] < fine["omega"]
    assert coarse["levels"] < fine["levels"]
    # the finest scale, 2^(L-1) cycles, is at most the Nyquist rate of what is seen and filled in
    for density in (Density(2, 57.0), Density(2, 128.0, 2.0), Density(2, 57.0, 4.5), Density(3, 20.0, 1.5)):
        levels = preset("al-sine", "reconstruct").options_at(density)["levels"]
        assert 2 ** (levels - 1) <= density.seen * max(density.gap, 2.0) / 2
    assert training("al-sine", "reconstruct", Density(2, 64, gap=2.0)).fill > 0


def test_held_out_samples_are_never_learned_from() -> None:
    held = HoldoutTask(task(), share=0.25)
    assert not set(held.validation.tolist()) & set(held.training.tolist())
    assert len(held.validation) + len(held.training) == held.task.count == 128
    drawn = {int(i) for step in range(20) for piece in held.pieces(step, 0, 10, 4) for i in piece}
    assert drawn <= set(held.training.tolist())
    x, y = held.load(held.validation)
    exact = {tuple(row.tolist()): value for row, value in zip(x, y, strict=True)}

    import torch

    assert held.judge(lambda q: torch.stack([exact[tuple(row.tolist())] for row in q])) > 100
    with pytest.raises(UserError, match="keep some back"):
        HoldoutTask(ImageTask(GridSignal(np.zeros((2, 1, 1), np.uint8))), share=0.2)


def test_what_the_user_fixed_is_not_searched() -> None:
    choice = choose("al-sine", "reconstruct", task(), {**SMALL, "omega": 7.0, "grid": 4}, {"steps": 80})
    tried = {name for trial in choice.trials for name in trial["changes"]}
    assert tried == {"levels", "bandwidth", "tv"}
    assert not set(choice.options) & {"omega", "grid"}


def test_it_is_repeatable_and_says_why() -> None:
    said: list[str] = []
    one = choose("al-sine", "reconstruct", task(), SMALL, {"steps": 120}, say=said.append)
    other = choose("al-sine", "reconstruct", task(), SMALL, {"steps": 120})
    assert (one.options, one.trials) == (other.options, other.trials)
    assert said[0].startswith("auto: chose L ")
    for word in ("B ", "α grid ", "ω0 ", "λ ", "held out"):
        assert word in said[0]
    assert len(said) == len(one.trials) == 6
    best = max(trial["psnr"] for trial in one.trials)
    assert one.trials[0]["psnr"] <= best


@pytest.mark.parametrize("length", [{"steps": 120}, {"budget": 2.0}])
def test_the_trials_together_are_a_quarter_of_the_fit(length: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    recipes: list[Training] = []

    def noted(*arguments: Any, training: Training, **named: Any) -> Any:
        recipes.append(training)
        return fit_task(*arguments, training=replace(training, budget=None, steps=1), **named)

    monkeypatch.setattr("alfilter.runs.auto.fit_task", noted)
    choose("al-sine", "reconstruct", task(), SMALL, length)
    assert len(recipes) == 6
    if "steps" in length:
        assert sum(recipe.steps for recipe in recipes) <= 0.25 * 120
    else:
        assert sum(recipe.budget or 0.0 for recipe in recipes) <= max(0.25 * 2.0, 6 * 0.1)  # a tenth of a second each


def test_a_method_without_alpha_is_refused(tmp_path: Path) -> None:
    photo = picture(tmp_path / "photo.png")
    said = complaint("fit", photo, "--method", "siren", "--auto", "--out", tmp_path / "run")
    assert "option 'auto' chooses α's settings, siren has none" in said


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    photo = picture(tmp_path / "photo.png")
    sizes = ("--set", "width=16", "--set", "depth=1", "--threads", "1")
    words = ("fit", photo, "--observe", "random:0.5", "--steps", "40", "--auto", *sizes, "--out", tmp_path / "run")
    code, _, err = alfilter(*words)
    assert code == 0, err
    assert "samples are missing: preset reconstruct" in err
    assert "auto: chose" in err
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["preset"] == "reconstruct"
    assert len(config["auto"]["trials"]) >= 5
    assert (tmp_path / "run" / "sparse.png").is_file()
    code, _, err = alfilter(*words, "--resume")
    assert code == 0
    assert "finished already" in err


def test_the_explanation_names_the_gain() -> None:
    choice = Choice({"omega": 9.0}, {}, [{"changes": {}, "psnr": 20.0}, {"changes": {"omega": 9.0}, "psnr": 21.0}], 1.5)
    lines = explain(choice, {"levels": 4, "bandwidth": 8.0, "grid": None, "omega": 6.0, "tv": 0.0}, 12)
    assert lines[0] == (
        "auto: chose L 4, B 8, α grid per sample, ω0 9, λ 0 in 1.5 s, judged by 12 seen samples that were held out"
    )
    assert lines[1] == "auto: ω0 9: 21.00 dB (the start: 20.00)"
