"""The studies that look inside the method: tiny runs of each, their tables, verdicts and figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.analysis import facts
from alfilter.experiments import EXPERIMENTS
from alfilter.experiments.insight import alpha_meaning
from alfilter.experiments.paper import complexity, kernel_view, responses
from alfilter.experiments.paper import ntk as tangent
from alfilter.experiments.verdicts import verdict, verdict_table
from alfilter.report.figures.studies import FIGURES, write_figure
from alfilter.signals import write_image

TINY: dict[str, Any] = {"width": 8, "depth": 1}
PNG = b"\x89PNG"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "div2k").mkdir()
    for name in {*alpha_meaning.IMAGES, *tangent.IMAGES}:
        write_image(tmp_path / name, rng.random((24, 24, 3)))
    return tmp_path


def test_responses_and_their_verdicts(tmp_path: Path) -> None:
    lines = [responses.execute(run, "") for run in responses.runs()]
    text = responses.summarise(lines)
    assert text.count("**holds**") == 3
    assert lines[0]["metrics"]["width_inside"] == pytest.approx(20.0, abs=1e-3)
    assert lines[0]["metrics"]["slope_largest"] == pytest.approx(2.5, rel=1e-3)  # κ/4, on a channel
    path = write_figure("responses", lines, tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(PNG)
    assert write_figure("order", lines, tmp_path) is None


def test_ntk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent, "POINTS", 64)
    monkeypatch.setattr(facts, "LINE", 64)
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
    assert text.count("the tail does not grow") == 4
    assert FIGURES["ntk"](lines).startswith(PNG)


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
    assert FIGURES["kernel"](lines).startswith(PNG)


def test_alpha_meaning(data: Path) -> None:
    runs = [
        replace(run, size=24, settings={**run.settings, **TINY}, training={"steps": 3})
        for run in alpha_meaning.runs()
        if run.image == alpha_meaning.IMAGES[0]
    ]
    lines = [alpha_meaning.execute(run, str(data)) for run in runs]
    for line in lines:
        assert -1 <= line["metrics"]["gradient"] <= 1
        assert 1 / 9 <= line["metrics"]["p_gradient"] <= 1  # 3×3 blocks
        assert line["metrics"]["alpha_moved"] > 0
    assert "does not hold here" in alpha_meaning.summarise(lines)  # with nine blocks nothing is significant
    assert FIGURES["alpha-meaning"](lines).startswith(PNG)


def test_complexity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complexity, "REPEATS", 1)
    small = {"N": 64, "levels": 2, "width": 16, "grid": 8}
    lines = []
    for run in complexity.runs():
        vary = run.settings["vary"]
        value = run.settings[vary] // (64 if vary == "N" else 2)
        lines.append(complexity.execute(replace(run, settings={**small, vary: value, "vary": vary}), ""))
    of = {(row["method"], row["quantity"]): row for row in complexity.fits(lines)}
    assert of["al-sine", "N"]["memory_last"] == pytest.approx(1, abs=0.2)
    # three sine layers keep values and slopes, 2·3·width floats a point; γ', its slope and α beside them
    one = next(line for line in lines if line["method"] == "siren")
    assert one["metrics"]["held"] >= one["sizes"]["N"] * 4 * 16 * 6
    assert "time is O(N)" in complexity.summarise(lines)
    assert FIGURES["complexity"](lines).startswith(PNG)


def test_verdicts_are_a_table() -> None:
    text = verdict_table([verdict("a", False, "1"), verdict("b", True, "2", only_if="c")])
    assert "| a | **does not hold here** | 1 |" in text
    assert "| b | **holds only if c** | 2 |" in text


def test_they_can_be_asked_for() -> None:
    assert {"ntk", "kernel", "alpha-meaning", "complexity", "responses"} <= set(EXPERIMENTS)
    assert set(FIGURES) <= set(EXPERIMENTS)
