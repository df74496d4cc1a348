"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import alpha, between, order, shapes, wallclock
from alfilter.experiments.declared import images, read_study
from alfilter.experiments.experiment import Experiment, Run, table
from alfilter.experiments.sweep import run_experiment

EXPERIMENTS: dict[str, Experiment] = {
    study.name: study
    for study in (alpha.STUDY, order.STUDY, wallclock.STUDY, between.STUDY, between.SEARCH_STUDY, shapes.STUDY)
}

__all__ = ["EXPERIMENTS", "Experiment", "Run", "images", "read_study", "run_experiment", "table"]
