"""The study of α: one thing changes in every row."""

from __future__ import annotations

from alfilter.config import Training, configure
from alfilter.experiments.insight.alpha import BASE, IMAGES, ROWS, runs, summarise
from alfilter.methods import method


def test_rows_are_settings_that_exist_and_runs_are_named_once() -> None:
    declared = runs()
    assert len({run.name for run in declared}) == len(declared) == len(ROWS) * len(IMAGES) * 3
    for run in declared[:: len(IMAGES) * 3]:
        configure(method("al-sine").options, run.settings, "al-sine")
        configure(Training, run.training, "training")
    assert declared[0].settings == BASE


def test_seen_and_unseen_pixels_have_columns_of_their_own() -> None:
    scores = {"all": ({"psnr": 30.0}, None), "every:2": ({"psnr": 40.0}, {"psnr": 20.0})}
    lines = [
        {"group": "row", "observe": observe, "metrics": metrics, "heldout": heldout}
        for observe, (metrics, heldout) in scores.items()
    ]
    head, _, row = summarise(lines).splitlines()
    assert head == "| setting | runs | all samples, dB | every other: seen, dB | every other: between, dB |"
    assert row == "| row | 2 | 30.00 | 40.00 | 20.00 |"
