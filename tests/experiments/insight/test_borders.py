"""The study of borders: sizes are powers of two with L scaled, and a line has both scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.result_lines import scene

from alfilter.experiments.insight import borders
from alfilter.signals import write_image


def test_every_placement_on_every_crop() -> None:
    runs = borders.runs()
    assert len(runs) == 2 * 2 * (3 * 3 + 1)
    small = [run for run in runs if run.size == 64 and run.method == "al-sine"]
    assert {run.settings["placement"] for run in small} == {"ends", "centres", "unit"}
    assert {(run.settings["levels"], run.settings["bandwidth"]) for run in small} == {(5, 12.5)}


def test_a_line_is_scored_with_and_without_its_rim(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", scene())
    run = replace(borders.runs()[0], image="a.png", size=16, training={"steps": 2})
    line = borders.execute(replace(run, settings={"width": 4, "levels": 2}), str(tmp_path))
    assert set(line["metrics"]) == {"psnr", "psnr_inside"}  # too short for a step 100
    assert "| pe-mlp, ends, 64² | 1 | – |" in borders.summarise([line])
