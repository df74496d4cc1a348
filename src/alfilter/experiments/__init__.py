"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from __future__ import annotations

from alfilter.experiments.compare import between, equal_terms, filling
from alfilter.experiments.compare import between_ablation as between_trials
from alfilter.experiments.insight import alpha, alpha_meaning
from alfilter.experiments.paper import (
    complexity,
    kernel_view,
    order,
    responses,
    shapes,
)
from alfilter.experiments.paper import (
    image_fitting as fitting,
)
from alfilter.experiments.paper import (
    method_traits as traits,
)
from alfilter.experiments.paper import (
    ntk as tangent,
)
from alfilter.experiments.paper import (
    shape_views as renders,
)
from alfilter.experiments.paper import (
    sparse as gaps,
)
from alfilter.experiments.paper.catalogue import PAPER
from alfilter.experiments.runner.sweep import run_experiment
from alfilter.experiments.study import Experiment, Run, table
from alfilter.experiments.study_file import images, read_study
from alfilter.experiments.tuning import methods as tuning
from alfilter.experiments.tuning import minute as wallclock
from alfilter.experiments.tuning import shapes as shapes_search

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
