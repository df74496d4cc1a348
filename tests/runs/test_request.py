"""A request and the complete setting that follows from it: preset, options, size, training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alfilter.config import Density, Training
from alfilter.errors import UserError
from alfilter.methods import build, parameter_count
from alfilter.runs import FitRequest, resolve
from alfilter.runs.request import suited_preset
from alfilter.signals import GridSignal, PointSignal
from alfilter.tasks import AudioTask, ImageTask, PointTask


def image(observe: str = "all", size: int = 16) -> ImageTask:
    return ImageTask(GridSignal(np.zeros((size, size, 1), np.uint8)), observe)


def test_a_request_names_its_folder() -> None:
    assert FitRequest("a/b/photo.png").folder() == Path("runs/photo-al-grid")
    assert FitRequest("sample:astronaut", method="siren").folder() == Path("runs/astronaut-siren")
    assert FitRequest("x.png", out="here").folder() == Path("here")


def test_the_method_is_that_of_the_command() -> None:
    """al-grid, or al-sine for the paper's presets; a copy keeps what it has."""
    assert FitRequest("x.png").method == "al-grid"
    paper = FitRequest("x.png", preset="paper")
    assert paper.method == FitRequest("x.png", preset="source-shape").method == "al-sine"
    assert replace(paper, preset=None).method == "al-sine"
    assert FitRequest("x.png", method="siren", preset="paper").method == "siren"


def test_the_paper_adds_total_variation_only_where_samples_are_missing() -> None:
    assert resolve(image("every:2"), "al-sine", preset="paper").training.tv == 1e-3 / 3
    assert resolve(image(), "al-sine", preset="paper").training.tv == 0


def test_the_preset_is_the_named_one_or_the_suited_one_in_its_variant_for_the_kind() -> None:
    points = PointTask(PointSignal(np.random.default_rng(0).random((9, 2)), np.arange(9.0)[:, None]))
    sound = AudioTask(GridSignal(np.zeros((32, 1), np.int16), kind="audio"))
    assert suited_preset("al-sine", image()) == "default"
    assert suited_preset("al-sine", image("every:2")) == suited_preset("al-sine", points) == "reconstruct"
    assert suited_preset("siren", image("every:2")) == "default"
    measured = points.signal
    noisy = PointTask(PointSignal(measured.places, measured.measured, noise_name="s"))
    assert [suited_preset(name, noisy) for name in ("al-grid", "al-sine", "siren")] == [
        "noisy", "reconstruct", "default",
    ]  # fmt: skip
    values = 16 * 16
    assert suited_preset("al-grid", image(), values - 1) == suited_preset("hash-grid", image(), values - 1) == "small"
    assert suited_preset("al-grid", image(), values) == suited_preset("siren", image(), 9) == "default"
    assert suited_preset("al-grid", image("every:2"), 9) == "reconstruct"
    assert suited_preset("al-grid", sound, 9) == "default"
    assert resolve(image("every:2"), "al-sine", preset=None).preset == "reconstruct"
    assert resolve(image("every:2"), "al-sine").preset == "default"
    assert resolve(sound, "al-sine").preset == "default-audio"
    with pytest.raises(UserError, match="al-sine has no preset 'papr'; did you mean 'paper'"):
        resolve(image(), "al-sine", preset="papr")


def test_a_budget_of_parameters_sizes_the_method() -> None:
    setting = resolve(image(), "siren", params=5000, options={"depth": 2})
    assert setting.options["depth"] == 2
    field = build("siren", in_dim=2, out_dim=1, preset=setting.preset, samples=(16, 16), **setting.options)
    assert abs(parameter_count(field) - 5000) <= 250


def test_training_is_changed_or_replaced() -> None:
    changed = resolve(image(), "al-sine", training={"steps": 7}).training
    assert changed.steps == 7
    assert changed.schedule == "cosine"  # the preset's
    whole = Training(steps=3)
    assert resolve(image("every:2"), "al-sine", preset="paper", training=whole).training is whole


def test_the_density_is_the_task_s_own_unless_another_is_given() -> None:
    assert resolve(image("every:2"), "al-sine").density == Density(2, 8.0, 2.0)
    other = Density(2, 64.0, 4.0)
    assert resolve(image(), "al-sine", density=other).density == other
