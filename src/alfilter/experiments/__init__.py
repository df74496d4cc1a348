"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments import (
    alpha,
    alpha_meaning,
    between,
    between_trials,
    complexity,
    equal_terms,
    filling,
    fitting,
    gaps,
    kernel_view,
    order,
    renders,
    responses,
    shapes,
    shapes_search,
    tangent,
    traits,
    tuning,
    wallclock,
)
from alfilter.experiments.declared import images, read_study
from alfilter.experiments.experiment import Experiment, Run, table
from alfilter.experiments.reproduce import PAPER
from alfilter.experiments.sweep import run_experiment

# by what they ask: which setting, which method, what is inside, what the paper shows
STUDIES = (
    alpha.STUDY,
    wallclock.STUDY,
    tuning.STUDY,
    filling.STUDY,
    between_trials.STUDY,
    between.SEARCH_STUDY,
    order.STUDY,
    equal_terms.STUDY,
    equal_terms.EQUAL,
    between.STUDY,
    between.LARGE_STUDY,
    shapes_search.STUDY,
    shapes_search.RATES_STUDY,
    shapes.STUDY,
    shapes.LONG_STUDY,
    responses.STUDY,
    tangent.STUDY,
    kernel_view.STUDY,
    alpha_meaning.STUDY,
    complexity.STUDY,
    fitting.STUDY,
    gaps.STUDY,
    renders.STUDY,
    traits.STUDY,
)
EXPERIMENTS: dict[str, Experiment] = {study.name: study for study in STUDIES}

__all__ = ["EXPERIMENTS", "PAPER", "Experiment", "Run", "images", "read_study", "run_experiment", "table"]
