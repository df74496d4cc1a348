"""What an overview is told beside the runs: nothing by default, and nothing shared."""

from __future__ import annotations

from alfilter.report.overview.facts import Facts


def test_facts_are_empty_unless_given() -> None:
    one, other = Facts(), Facts()
    assert (one.claims, one.printed, one.captions) == ((), {}, {})
    assert one.printed is not other.printed
