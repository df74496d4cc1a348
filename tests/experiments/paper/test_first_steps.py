"""The first steps of the paper's image fitting: its own methods, at its own size."""

from __future__ import annotations

from alfilter.experiments.paper import image_fitting
from alfilter.experiments.paper.first_steps import IMAGES, STEPS, STUDY, runs
from alfilter.methods import training


def test_every_method_on_every_picture_at_its_full_size() -> None:
    declared = runs()
    assert {(run.group, run.image) for run in declared} == {(g, i) for g in image_fitting.METHODS for i in IMAGES}
    assert len({run.name for run in declared}) == len(declared)
    assert {(run.size, run.preset) for run in declared} == {(declared[0].size, "paper")}
    assert (STUDY.name, STUDY.full) == ("first-steps", None)


def test_rates_do_not_fall_within_them() -> None:
    assert training("al-sine", "paper").every > STEPS
