"""A fit of a study that was stopped continues to the same result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support.commands import picture

from alfilter.errors import UserError
from alfilter.experiments import Run, Study, run_study
from alfilter.experiments.fitting import cropped_task, fit_run, prepare_run
from alfilter.experiments.fitting import execute as usual
from alfilter.experiments.unfinished import fit_resumably, folder_beside, kept_in
from alfilter.runs.fitting import NotFinite, PreparedFit

TINY = {"width": 8, "depth": 1, "levels": 2, "grid": 4}
RUN = Run("row", "a.png", settings=TINY, training={"steps": 130, "batch": 64})


class Killed(Exception):
    """Stands for a process that was killed."""


def stopped_fit(self: PreparedFit, **hooks: Any) -> Any:
    """A fit whose process ends after 120 steps, with a checkpoint at every step."""

    def look(progress: Any) -> None:
        if progress.step == 120:
            raise Killed

    return UNCHANGED(self, checkpoint_every=0.0, on_progress=look, **hooks)


UNCHANGED = PreparedFit.fit


@pytest.fixture
def data(tmp_path: Path) -> str:
    picture(tmp_path / "a.png", 16, 16)
    return str(tmp_path)


def stop(folder: Path, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(PreparedFit, "fit", stopped_fit)
        with pytest.raises(Killed), kept_in(str(folder)):
            fit_run(RUN, cropped_task(RUN, data))


def test_a_stopped_fit_continues_to_the_same_bits(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit_run(RUN, cropped_task(RUN, data))
    folder = tmp_path / "unfinished"
    stop(folder, data, monkeypatch)
    assert sorted(file.suffix for file in folder.iterdir()) == [".jsonl", ".safetensors"]
    steps: list[int] = []

    def watched_fit(self: PreparedFit, **hooks: Any) -> Any:
        return UNCHANGED(self, on_progress=lambda progress: steps.append(progress.step), **hooks)

    with kept_in(str(folder)), monkeypatch.context() as patch:
        patch.setattr(PreparedFit, "fit", watched_fit)
        resumed = fit_run(RUN, cropped_task(RUN, data))
    assert steps[0] == 120, "the checkpoint of step 119 is where it went on"
    for ours, theirs in zip(resumed.field.parameters(), whole.field.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    of_whole = [(line["step"], line["loss"]) for line in whole.result.history]
    assert [(line["step"], line["loss"]) for line in resumed.result.history] == of_whole
    assert not list(folder.iterdir())


def test_another_setting_starts_afresh(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "unfinished"
    stop(folder, data, monkeypatch)
    kept = sorted(folder.iterdir())
    other = replace(RUN, seed=1)
    with kept_in(str(folder)):
        result = fit_resumably(other, prepare_run(other, cropped_task(other, data))).result
    assert result.history[0]["step"] == 1
    assert sorted(folder.iterdir()) == kept, "what belongs to the stopped fit stays"


def test_outside_a_study_nothing_is_kept(data: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    fit_run(RUN, cropped_task(RUN, data))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_stop_between_fit_and_result_loses_no_step(data: str, tmp_path: Path) -> None:
    folder, task, fits = str(tmp_path / "unfinished"), cropped_task(RUN, data), []

    def fit_and_score(stopped: bool) -> None:
        fits.append(fit_run(RUN, task))
        if stopped:
            raise Killed

    with pytest.raises(Killed), kept_in(folder):
        fit_and_score(stopped=True)
    with kept_in(folder):
        fit_and_score(stopped=False)
    whole, again = fits
    for ours, theirs in zip(again.field.parameters(), whole.field.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert (again.result.steps, again.result.history) == (whole.result.steps, whole.result.history)
    assert not list((tmp_path / "unfinished").iterdir())


def test_a_fit_without_a_finite_loss_leaves_nothing(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "unfinished"
    stop(folder, data, monkeypatch)

    def failed_fit(self: PreparedFit, **hooks: Any) -> Any:
        raise NotFinite("the loss became NaN")

    monkeypatch.setattr(PreparedFit, "fit", failed_fit)
    with pytest.raises(NotFinite), kept_in(str(folder)):
        fit_run(RUN, cropped_task(RUN, data))
    assert not list(folder.iterdir())


def test_a_study_that_ends_leaves_only_its_lines(data: str, tmp_path: Path) -> None:
    """Nor what another setting left there before."""
    out = tmp_path / "out"
    left = folder_beside(out / "two.jsonl")
    left.mkdir(parents=True)
    (left / "of-another-setting.jsonl").touch()
    runs = [replace(RUN, seed=seed) for seed in range(2)]
    run_study(Study("two", lambda: runs, str), data, str(out), workers=1)
    assert [file.name for file in out.iterdir() if file.suffix != ".lock"] == ["two.jsonl"]


def test_studies_beside_each_other_share_no_files(data: str, tmp_path: Path) -> None:
    """One whose run fails keeps its state while another with the same run ends."""

    def fail_after(run: Run, data: str, threads: int) -> dict[str, Any]:
        usual(run, data, threads)
        raise UserError("no scores")

    out = tmp_path / "out"
    with pytest.raises(UserError, match="no scores"):
        run_study(Study("one", lambda: [RUN], str, fail_after), data, str(out), workers=1)
    kept = sorted(folder_beside(out / "one.jsonl").iterdir())
    assert len(kept) == 2
    run_study(Study("two", lambda: [RUN], str), data, str(out), workers=1)
    assert sorted(folder_beside(out / "one.jsonl").iterdir()) == kept
    assert not folder_beside(out / "two.jsonl").exists()
