"""What an overview says beside the numbers of the runs, handed in as plain data by whoever knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Values = Mapping[str, Mapping[str, float]]  # row → metric → number


@dataclass(frozen=True)
class Claim:
    """A claim of the paper with what came out: verdict in words, the numbers behind it, and the command to repeat it."""

    claim: str
    where: str
    verdict: str
    evidence: str
    command: str


@dataclass(frozen=True)
class Facts:
    """claims: the paper's, as far as they are judged. printed: study → title and values of the paper's table.

    captions: name of a figure → its caption.
    """

    claims: Sequence[Claim] = ()
    printed: Mapping[str, tuple[str, Values]] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
