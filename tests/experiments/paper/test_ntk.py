"""The NTK figure, tiny."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.analysis import ntk_facts
from alfilter.experiments.paper import ntk as tangent
from alfilter.report.figures.registry import FIGURES
from alfilter.signals import write_image

TINY: dict[str, Any] = {"width": 8, "depth": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "div2k").mkdir()
    for name in tangent.IMAGES:
        write_image(tmp_path / name, rng.random((24, 24, 3)))
    return tmp_path


def test_ntk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent, "POINTS", 64)
    monkeypatch.setattr(ntk_facts, "LINE", 64)
    runs = [
        replace(run, size=16, settings={**run.settings, **TINY}, training={"steps": 2} if run.training else {})
        for run in tangent.runs()
        if run.seed == 0
    ]
    lines = [tangent.execute(run, str(data)) for run in runs]
    assert len(lines) == 2 * len(tangent.ROWS)
    without = next(line for line in lines if line["group"] == "al-sine without filter, start")
    assert without["spectra"]["both"] == without["spectra"]["network"]  # an open filter has no slope in α
    text = tangent.summarise(lines)
    assert "| al-relu, start | pe-mlp |" in text
    assert text.count("the tail does not grow") == 2  # of the start; so short a fit judges nothing
    assert FIGURES["ntk"](lines).startswith(b"\x89PNG")
