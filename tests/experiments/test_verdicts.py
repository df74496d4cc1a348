"""A verdict in the same words everywhere."""

from __future__ import annotations

from alfilter.experiments.verdicts import FAILS, HOLDS, Verdict, verdict_table


def test_verdicts_are_a_table() -> None:
    text = verdict_table([Verdict("a", FAILS, "1"), Verdict("b", HOLDS, "2")])
    assert "| a | **does not hold** | 1 |" in text
    assert "| b | **holds** | 2 |" in text
