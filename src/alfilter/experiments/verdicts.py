"""The verdict of a study on a claim of the paper: one of three, the same everywhere."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "not decided here"
LEAST = 2  # pictures or seeds without which a difference is not judged


class Verdict(NamedTuple):
    """A claim, what came out, and the numbers behind it.

    where: the paper's table or figure. command: what repeats it. size: what was run, and on how many signals.
    """

    claim: str
    verdict: str
    evidence: str
    where: str = ""
    command: str = ""
    size: str = ""

    @property
    def known(self) -> bool:
        """Whether its study has been run."""
        return bool(self.size)


def graded(value: float, holds: float, fails: float) -> str:
    """The outcome of a number that is judged by two bars, between which it is undecided.

    >>> graded(0.1, 0.15, 0.3), graded(0.2, 0.15, 0.3), graded(0.9, 0.15, 0.3)  # small values hold
    ('holds', 'not decided here', 'does not hold')
    >>> graded(0.2, 0.1, 0.05), graded(0.01, 0.1, 0.05)  # large values hold
    ('holds', 'does not hold')
    """
    sign = 1 if holds < fails else -1
    if sign * value <= sign * holds:
        return HOLDS
    return FAILS if sign * value >= sign * fails else UNDECIDED


def decided(differences: Sequence[float], close: float) -> str:
    """Whether paired differences are above zero: undecided if their mean is within `close` or within their spread.

    >>> decided([2.0, 3.0], 0.5), decided([-2.0, -3.0], 0.5), decided([0.2, 0.3], 0.5), decided([9.0], 0.5)
    ('holds', 'does not hold', 'not decided here', 'not decided here')
    """
    if len(differences) < LEAST:
        return UNDECIDED
    mean = statistics.fmean(differences)
    if abs(mean) <= max(close, statistics.stdev(differences)):
        return UNDECIDED
    return HOLDS if mean > 0 else FAILS


def combined(verdicts: Sequence[str]) -> str:
    """A claim of several parts: holds if all do, fails if one does.

    >>> combined([HOLDS, HOLDS]), combined([HOLDS, UNDECIDED]), combined([UNDECIDED, FAILS])
    ('holds', 'not decided here', 'does not hold')
    """
    if FAILS in verdicts:
        return FAILS
    return HOLDS if verdicts and all(each == HOLDS for each in verdicts) else UNDECIDED


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """A Markdown table of verdicts; places, sizes and commands have columns where any verdict has them.

    >>> print(verdict_table([Verdict("water is wet", HOLDS, "1 of 1")]))
    | the paper says | here | evidence |
    |---|---|---|
    | water is wet | **holds** | 1 of 1 |
    """
    located = any(v.where or v.command for v in verdicts)
    heads = ["the paper says", *(["where"] * located), "here", "evidence", *(["run", "command"] * located)]
    rows = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for v in verdicts:
        cells = [v.claim, *([v.where] * located), f"**{v.verdict}**", v.evidence or "not run",
                 *([v.size or "–", f"`{v.command}`"] if located else [])]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)
