"""A fit of a study that was stopped continues to the same result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support.commands import picture

from alfilter.experiments import Run, Study, run_study
from alfilter.experiments.fitting import cropped_task, fit_run, prepare_run
from alfilter.experiments.unfinished import fit_resumably, kept_in
from alfilter.runs.fitting import PreparedFit

TINY = {"width": 8, "depth": 1, "levels": 2, "grid": 4}
RUN = Run("row", "a.png", settings=TINY, training={"steps": 130, "batch": 64})


class Pulled(Exception):
    """The plug was pulled."""


def stopped_fit(self: PreparedFit, **hooks: Any) -> Any:
    """A fit whose process ends after 120 steps, with a checkpoint at every step."""

    def look(progress: Any) -> None:
        if progress.step == 120:
            raise Pulled

    return UNCHANGED(self, checkpoint_every=0.0, on_progress=look, **hooks)


UNCHANGED = PreparedFit.fit


@pytest.fixture
def data(tmp_path: Path) -> str:
    picture(tmp_path / "a.png", 16, 16)
    return str(tmp_path)


def stop(folder: Path, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, kept_in(str(folder)):
        patch.setattr(PreparedFit, "fit", stopped_fit)
        with pytest.raises(Pulled):
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


def test_a_fit_that_ends_leaves_the_folder_to_the_others(data: str, tmp_path: Path) -> None:
    """Another worker may have made it and not yet written into it."""
    folder = tmp_path / "unfinished"
    with kept_in(str(folder)):
        fit_run(RUN, cropped_task(RUN, data))
    assert folder.exists()
    assert not list(folder.iterdir())


def test_a_study_that_ends_leaves_only_its_lines(data: str, tmp_path: Path) -> None:
    runs = [replace(RUN, seed=seed) for seed in range(2)]
    run_study(Study("two", lambda: runs, str), data, str(tmp_path / "out"), workers=1)
    assert [file.name for file in (tmp_path / "out").iterdir() if file.suffix != ".lock"] == ["two.jsonl"]
