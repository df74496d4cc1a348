"""The complexity table, tiny."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alfilter.experiments.paper import complexity
from alfilter.report.figures.registry import FIGURES


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
    # three sine layers keep values and slopes, 2·3·width floats per point; γ', its slope and α beside them
    one = next(line for line in lines if line["method"] == "siren")
    assert one["metrics"]["held"] >= one["sizes"]["N"] * 4 * 16 * 6
    assert "time is O(N)" in complexity.summarise(lines)
    assert FIGURES["complexity"](lines).startswith(b"\x89PNG")
