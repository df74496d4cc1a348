"""The campaign over processors: the plain functions give what the kernels give."""

from __future__ import annotations

import pytest
from benchmarks.campaigns.processors import METHODS, OPTIONS, compare


def test_without_numba_the_values_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(("al-sine",), ("without numba",)) == 0
    assert "al-sine" in capsys.readouterr().out


def test_every_method_of_the_campaign_has_its_options() -> None:
    assert set(METHODS) == set(OPTIONS)
