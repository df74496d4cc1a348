"""The study of what lies between the pixels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.commands import picture

from alfilter.experiments.compare import between
from alfilter.experiments.compare.filling import IMAGES, ROWS, STUDY, execute, runs


def test_every_row_runs_and_keeps_off_the_tables_pictures(tmp_path: Path) -> None:
    picture(tmp_path / "p.png", 24, 24)
    first = {run.method: run for run in runs() if run.observe == "every:2"}
    assert set(ROWS) <= set(first)
    lines = [execute(replace(run, image="p.png", size=24), str(tmp_path)) for run in first.values()]
    assert all(line["heldout"]["psnr_between"] > 10 for line in lines)
    assert "| plates | 1 |" in STUDY.summarise(lines)
    assert not set(IMAGES) & set(between.IMAGES)
