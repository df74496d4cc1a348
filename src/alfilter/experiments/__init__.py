"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import alpha, between, fitting, gaps, order, renders, shapes, traits, wallclock
from alfilter.experiments.experiment import Experiment, Run, run_experiment, table
from alfilter.experiments.reproduce import PAPER

EXPERIMENTS: dict[str, Experiment] = {
    study.name: study
    for study in (alpha.STUDY, order.STUDY, wallclock.STUDY, between.STUDY, between.SEARCH_STUDY, shapes.STUDY)
}
EXPERIMENTS |= {
    study.name: study for study in (fitting.STUDY, gaps.STUDY, renders.STUDY, traits.STUDY)
}  # the paper's own

__all__ = ["EXPERIMENTS", "PAPER", "Experiment", "Run", "run_experiment", "table"]
