"""A run of a study is fitted as the command fits it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.support.commands import picture

from alfilter.errors import UserError
from alfilter.experiments import STUDIES, Run, execute
from alfilter.experiments.fitting import check_run, cropped_task, fit_run, prepare_run, reduced_task, thinned
from alfilter.methods import METHODS, parameter_count
from alfilter.runs import fit_task

TINY = {"width": 8, "depth": 1, "levels": 2, "grid": 4}


@pytest.fixture
def data(tmp_path: Path) -> str:
    picture(tmp_path / "a.png", 16, 16)
    return str(tmp_path)


def test_gaps_bring_the_total_variation_of_the_paper(data: str) -> None:
    whole, gaps = (Run("row", "a.png", preset="paper", observe=observe) for observe in ("all", "every:2"))
    assert prepare_run(whole, cropped_task(whole, data)).setting.training.tv == 0
    assert prepare_run(gaps, cropped_task(gaps, data)).setting.training.tv == 1e-3 / 3


def test_a_preset_follows_the_density(data: str) -> None:
    run = Run("row", "a.png", preset="reconstruct", observe="every:2")
    setting = prepare_run(run, cropped_task(run, data)).setting
    assert setting.density is not None
    assert setting.density.gap == pytest.approx(2.0)
    assert setting.training.fill > 0


def test_a_run_is_what_fit_task_gives(data: str) -> None:
    run = Run("row", "a.png", observe="every:2", seed=3, settings=TINY, training={"steps": 3})
    task = cropped_task(run, data)
    direct = fit_task(task, "al-sine", options=TINY, training={"steps": 3}, seed=3).field
    for ours, theirs in zip(fit_run(run, task).field.parameters(), direct.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_the_line_of_a_run(data: str) -> None:
    line = execute(Run("row", "a.png", size=8, observe="every:2", settings=TINY, training={"steps": 3}), data)
    assert (line["group"], line["steps"], len(line["curve"])) == ("row", 3, 3)
    assert set(line["metrics"]) == {"psnr", "ssim"}
    assert line["heldout"]["psnr_between"] > 0


@pytest.mark.parametrize("count", [0, 1, 2, 59, 60, 61, 119, 120, 121, 122, 200, 541])
def test_a_thinned_curve_keeps_its_start_and_its_end(count: int) -> None:
    curve = [[step, 0.5 * step] for step in range(count)]
    points = thinned(curve)
    assert points[:1] + points[-1:] == curve[:1] + curve[-1:]
    assert [step for step, _ in points] == sorted({int(step) for step, _ in points}), "no point twice"
    assert min(count, 60) <= len(points) <= 121


def test_the_curve_of_a_line_ends_where_its_fit_does(data: str) -> None:
    line = execute(Run("row", "a.png", size=4, method="siren", settings={"width": 4, "depth": 1},
                       training={"steps": 300}), data)  # fmt: skip
    assert len(line["curve"]) < 121
    assert line["curve"][-1][0] == 300


def test_params_size_the_method(data: str) -> None:
    run = Run("row", "a.png", method="siren", settings={"params": 3000, "depth": 2})
    check_run(run)
    field = prepare_run(run, cropped_task(run, data)).field
    assert parameter_count(field) == pytest.approx(3000, rel=0.05)


def test_a_picture_is_cropped_or_reduced(data: str) -> None:
    run = Run("row", "a.png", size=8)
    whole = cropped_task(Run("row", "a.png"), data).target()
    torch.testing.assert_close(cropped_task(run, data).target(), whole[4:12, 4:12])
    means = whole.view(8, 2, 8, 2, 3).mean((1, 3))
    torch.testing.assert_close(reduced_task(run, data).target(), means, atol=0.51 / 255, rtol=0)
    torch.testing.assert_close(reduced_task(Run("row", "a.png"), data).target(), whole)


def test_words_that_do_not_exist() -> None:
    with pytest.raises(UserError, match="did you mean 'width'"):
        check_run(Run("row", "a.png", settings={"widht": 3}))


@pytest.mark.parametrize("name", STUDIES)
def test_the_runs_of_every_study_ask_for_what_exists(name: str) -> None:
    """But for runs without a signal, which measure a field that nobody fitted, and for interpolators."""
    for run in STUDIES[name].runs_in("nowhere"):
        if run.image not in ("", "none") and run.method in METHODS:
            check_run(run)
