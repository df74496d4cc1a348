"""The campaign over processors: the plain functions give what the kernels give."""

from __future__ import annotations

import resource

import pytest
from benchmarks.campaigns.limits import Trial, under_limits
from benchmarks.campaigns.processors import METHODS, OPTIONS, compare


def test_without_numba_the_values_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(("al-sine",), ("without numba",)) == 0
    assert "al-sine" in capsys.readouterr().out


def test_every_method_of_the_campaign_has_its_options() -> None:
    assert set(METHODS) == set(OPTIONS)


def test_few_addresses_end_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert under_limits((Trial("half a gigabyte", 2, resource.RLIMIT_AS, 512 << 20),)) == 0
    assert "exit code   2  alfilter: expected at least 1536 MB of addresses" in capsys.readouterr().out
