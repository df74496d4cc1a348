"""The kernel view against the empirical kernel, tiny."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.experiments.paper import kernel_view
from alfilter.experiments.verdicts import HOLDS, UNDECIDED
from alfilter.report.figures.registry import FIGURES
from alfilter.signals import write_image

TINY: dict[str, Any] = {"width": 8, "depth": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "div2k").mkdir()
    for name in ("div2k/01.png", "div2k/05.png"):
        write_image(tmp_path / name, rng.random((24, 24, 3)))
    return tmp_path


def test_kernel(data: Path) -> None:
    kinds: dict[str, Any] = {}
    for run in kernel_view.runs():
        kinds.setdefault(run.group, run)
    lines = []
    for run in kinds.values():
        recipe = {"steps": 2} if run.training else {}
        lines.append(kernel_view.execute(replace(run, size=run.size and 16, settings={**run.settings, **TINY},
                                                 training=recipe), str(data)))  # fmt: skip
    for line in lines:
        assert 0 <= line["metrics"]["overlap"] <= 1
    low = next(line for line in lines if line["group"] == "al-relu, α constant")  # start 0: the high scales are closed
    assert low["metrics"]["overlap"] > low["metrics"]["overlap_unfiltered"]
    assert low["metrics"]["closed"] < 0.1
    text = kernel_view.summarise(lines)
    learned = [row for row in text.splitlines() if "the view describes the α that is learned" in row]
    assert len(learned) == 2
    assert all("**not decided here**" in row and "too short a fit" in row for row in learned)
    assert FIGURES["kernel"](lines).startswith(b"\x89PNG")


def test_verdicts_compare_run_by_run() -> None:
    def lines(method: str, part: str, ours: float, passed: float) -> list[dict[str, Any]]:
        metrics = {"overlap_unfiltered": 0.6, "overlap": ours, "passed": passed}
        return [{"group": f"{method}, {part}", "metrics": {**metrics, "overlap": ours + k / 100}} for k in range(3)]

    rows = [("α constant", 0.9), ("α sweeps 0.5 times", 0.61), ("α sweeps 4 times", 0.4), ("α learned, x", 0.9)]
    every = [
        line
        for method, passed in (("al-relu", 1.1), ("al-sine", 5.0))
        for part, ours in rows
        for line in lines(method, part, ours, passed)
    ]
    verdicts = kernel_view._verdicts(every)
    assert [each.verdict for each in verdicts] == [HOLDS, *[UNDECIDED] * 6]
    outside, size = verdicts[2], verdicts[4]
    assert outside.claim.startswith("outside the paper's assumption")
    assert outside.evidence == "overlap 0.41 with the factor, 0.60 without"
    assert "which the paper does not state (al-sine)" in size.claim
    assert size.evidence == "median factor of open scales 5.00; predicted 1"
