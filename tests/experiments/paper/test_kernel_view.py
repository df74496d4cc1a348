"""The kernel view against the empirical kernel, tiny."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.experiments.paper import kernel_view
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
    assert "the view describes the α that is learned" in kernel_view.summarise(lines)
    assert FIGURES["kernel"](lines).startswith(b"\x89PNG")
