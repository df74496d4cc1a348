"""Repeatable studies: short declarations that expand to runs, skip what is finished, and end in a table."""

from alfilter.experiments.data import images
from alfilter.experiments.fitting import execute
from alfilter.experiments.registry import STUDIES
from alfilter.experiments.runner.sweep import run_study
from alfilter.experiments.study import Run, Study, table
from alfilter.experiments.study_file import read_study

__all__ = ["STUDIES", "Run", "Study", "execute", "images", "read_study", "run_study", "table"]
