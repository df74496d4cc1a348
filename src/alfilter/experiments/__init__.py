"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import alpha, between, between_trials, order, shapes, wallclock
from alfilter.experiments.experiment import Experiment, Run, run_experiment, table

STUDIES = (
    alpha.STUDY,
    order.STUDY,
    wallclock.STUDY,
    between.STUDY,
    between.SEARCH_STUDY,
    between_trials.STUDY,
    shapes.STUDY,
)
EXPERIMENTS: dict[str, Experiment] = {study.name: study for study in STUDIES}

__all__ = ["EXPERIMENTS", "Experiment", "Run", "run_experiment", "table"]
