"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import (
    alpha,
    alpha_meaning,
    between,
    complexity,
    kernel_view,
    order,
    responses,
    shapes,
    tangent,
    wallclock,
)
from alfilter.experiments.experiment import Experiment, Run, run_experiment, table

EXPERIMENTS: dict[str, Experiment] = {
    study.name: study
    for study in (alpha.STUDY, order.STUDY, wallclock.STUDY, between.STUDY, between.SEARCH_STUDY, shapes.STUDY)
}
EXPERIMENTS |= {  # what the method is, looked at from inside
    study.name: study
    for study in (responses.STUDY, tangent.STUDY, kernel_view.STUDY, alpha_meaning.STUDY, complexity.STUDY)
}

__all__ = ["EXPERIMENTS", "Experiment", "Run", "run_experiment", "table"]
