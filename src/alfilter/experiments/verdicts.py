"""What a study says of a claim of the paper, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HOLDS, FAILS, MISSING = "holds", "does not hold here", "not run"


class Verdict(NamedTuple):
    """A claim, what came out, and the numbers behind it; where the paper says so, and the command that repeats it."""

    claim: str
    verdict: str
    evidence: str
    where: str = ""
    command: str = ""

    @property
    def known(self) -> bool:
        """Whether its study has been run."""
        return self.verdict != MISSING


def verdict(claim: str, holds: bool, evidence: str, only_if: str | None = None) -> Verdict:
    """holds, does not hold here, or, with a condition, holds only if …

    >>> verdict("water is wet", True, "1 of 1", only_if="it is liquid").verdict
    'holds only if it is liquid'
    """
    words = HOLDS if holds else FAILS
    return Verdict(claim, f"{words} only if {only_if}" if holds and only_if else words, evidence)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """A Markdown table of verdicts; places and commands have columns where any verdict has them.

    >>> print(verdict_table([verdict("water is wet", True, "1 of 1")]))
    | the paper says | here | evidence |
    |---|---|---|
    | water is wet | **holds** | 1 of 1 |
    """
    located = any(v.where or v.command for v in verdicts)
    heads = ["the paper says", *(["where"] * located), "here", "evidence", *(["command"] * located)]
    rows = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for v in verdicts:
        cells = [v.claim, *([v.where] * located), f"**{v.verdict}**", v.evidence, *([f"`{v.command}`"] * located)]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)
