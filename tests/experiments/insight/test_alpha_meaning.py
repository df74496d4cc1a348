"""What α means, tiny."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.experiments.insight import alpha_meaning
from alfilter.report.figures.registry import FIGURES
from alfilter.signals import write_image

TINY: dict[str, Any] = {"width": 8, "depth": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "div2k").mkdir()
    for name in alpha_meaning.IMAGES:
        write_image(tmp_path / name, rng.random((24, 24, 3)))
    return tmp_path


def test_alpha_meaning(data: Path) -> None:
    runs = [
        replace(run, size=24, settings={**run.settings, **TINY}, training={"steps": 3})
        for run in alpha_meaning.runs()
        if run.image == alpha_meaning.IMAGES[0]
    ]
    lines = [alpha_meaning.execute(run, str(data)) for run in runs]
    for line in lines:
        moved = line["metrics"]["alpha_spread"] >= alpha_meaning.MOVED
        assert moved == (-1 <= line["metrics"]["gradient"] <= 1)
        assert moved == (1 / 9 <= line["metrics"]["p_gradient"] <= 1)  # 3×3 blocks
        assert line["metrics"]["alpha_moved"] > 0
    assert "| 0 of 1 | 0 of 1 | 0 of 1 | 0 of 1 |" in alpha_meaning.summarise(lines)  # with nine blocks nothing can be
    assert FIGURES["alpha-meaning"](lines).startswith(b"\x89PNG")


def test_alpha_that_did_not_move_has_no_correlation(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alpha_meaning, "MOVED", 100.0)
    run = alpha_meaning.runs()[0]
    line = alpha_meaning.execute(
        replace(run, size=24, settings={**run.settings, **TINY}, training={"steps": 2}), str(data)
    )
    assert math.isnan(line["metrics"]["gradient"])
    assert line["metrics"]["alpha_spread"] > 0
    row = next(row for row in alpha_meaning.summarise([line]).splitlines() if row.startswith("| al-sine, paper | 1 |"))
    assert row.endswith("| – | – | – |")
