"""What a study says of a claim of the paper, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HOLDS, FAILS = "holds", "does not hold here"


class Verdict(NamedTuple):
    """A claim, what came out, and the numbers behind it."""

    claim: str
    verdict: str
    evidence: str


def verdict(claim: str, holds: bool, evidence: str, only_if: str | None = None) -> Verdict:
    """holds, does not hold here, or, with a condition, holds only if …

    >>> verdict("water is wet", True, "1 of 1", only_if="it is liquid").verdict
    'holds only if it is liquid'
    """
    said = HOLDS if holds else FAILS
    return Verdict(claim, f"{said} only if {only_if}" if holds and only_if else said, evidence)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """A Markdown table of verdicts."""
    rows = ["| the paper says | here | evidence |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| {v.claim} | **{v.verdict}** | {v.evidence} |" for v in verdicts)])
