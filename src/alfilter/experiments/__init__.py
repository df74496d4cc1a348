"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import alpha, between, equal_terms, order, shapes, tuning, wallclock
from alfilter.experiments.experiment import Experiment, Run, run_experiment, table

EXPERIMENTS: dict[str, Experiment] = {
    study.name: study
    for study in (
        alpha.STUDY,
        order.STUDY,
        wallclock.STUDY,
        between.STUDY,
        between.SEARCH_STUDY,
        shapes.STUDY,
        tuning.STUDY,
        equal_terms.STUDY,
        equal_terms.EQUAL,
    )
}

__all__ = ["EXPERIMENTS", "Experiment", "Run", "run_experiment", "table"]
