"""The complexity table, tiny."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alfilter.experiments.paper import complexity
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED
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
    text = complexity.summarise(lines)
    assert "time is O(N)" in text
    assert text.count("| `alfilter experiment complexity` |") == 5
    assert FIGURES["complexity"](lines).startswith(b"\x89PNG")


@pytest.mark.parametrize(("miss", "verdict"), [(0.1, HOLDS), (0.2, UNDECIDED), (0.4, FAILS)])
def test_an_exponent_that_misses_by_little_is_undecided(miss: float, verdict: str) -> None:
    kinds = ("forward", "training", "training_last", "memory", "memory_last")
    rows = [
        {"method": method, "quantity": quantity, **dict.fromkeys(kinds, 1.0)}
        for method, said in complexity.PAPER.items()
        for quantity in said
    ]
    assert complexity._verdicts(rows)[0].verdict == HOLDS
    next(row for row in rows if (row["method"], row["quantity"]) == ("siren", "N"))["training"] = 1 + miss
    assert complexity._verdicts(rows)[0].verdict == verdict
