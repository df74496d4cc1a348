"""The figure of filter responses."""

from __future__ import annotations

from pathlib import Path

import pytest

from alfilter.experiments.paper import responses
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED
from alfilter.report.figures.registry import write_figure


def test_responses_and_their_verdicts(tmp_path: Path) -> None:
    lines = [responses.execute(run, "") for run in responses.runs()]
    text = responses.summarise(lines)
    assert text.count("**holds**") == 3
    assert text.count("| 32 channels, 2,001 values of α; nothing is fitted | `alfilter experiment responses` |") == 3
    assert lines[0]["metrics"]["width_inside"] == pytest.approx(20.0, abs=1e-3)
    assert lines[0]["metrics"]["slope_largest"] == pytest.approx(2.5, rel=1e-3)  # κ/4, on a channel
    path = write_figure("responses", "responses", lines, tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
    assert write_figure("methods-table", "methods-table", lines, tmp_path) is None


def test_a_band_that_is_a_little_off_is_undecided() -> None:
    paper = responses.execute(responses.runs()[0], "")["metrics"]
    changed = [
        {**paper, "width_inside": width, "high_pass": share} for width, share in ((20, 0.4), (19.2, 0.07), (8, 0))
    ]
    outcomes = [[each.verdict for each in responses._verdicts(metrics)] for metrics in changed]
    assert outcomes == [[HOLDS, HOLDS, HOLDS], [UNDECIDED, HOLDS, UNDECIDED], [FAILS, HOLDS, FAILS]]
