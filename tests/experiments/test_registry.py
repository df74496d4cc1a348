"""The list of studies: complete, and read without importing any of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.support.commands import alfilter

from alfilter.errors import UserError
from alfilter.experiments import STUDIES


def test_every_study_has_runs_with_names_of_their_own() -> None:
    for name, each in STUDIES.items():
        names = [run.name for run in each.runs_in("nowhere")]
        assert each.name in STUDIES
        assert each.name == name or STUDIES.declared[name].paper
        assert len(set(names)) == len(names) > 0


def test_a_study_is_imported_when_it_is_asked_for() -> None:
    program = """
import sys
from alfilter.experiments import STUDIES
list(STUDIES.declared)
parts = ("paper", "tuning", "compare", "insight")
early = [name for name in sys.modules if name.startswith(tuple(f"alfilter.experiments.{part}" for part in parts))]
assert not early, early
assert "torch" not in sys.modules  # a list of names needs no second of waiting
STUDIES["methods-table"]
assert "alfilter.experiments.compare.equal_terms" in sys.modules
assert "alfilter.experiments.compare.between" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_command_lists_all_with_what_they_ask() -> None:
    listing = alfilter("experiment", "--list").out
    for name, study in STUDIES.items():
        assert f"{name:<16}{study.question}\n" in listing
        assert study.question


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="there is no study 'betwen'; did you mean 'between'"):
        STUDIES["betwen"]
