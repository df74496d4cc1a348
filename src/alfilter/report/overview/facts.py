"""What an overview says beside the numbers of the runs, passed in as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Values = Mapping[str, Mapping[str, float]]  # row → metric → number


@dataclass(frozen=True)
class Facts:
    """claims: the paper's, each with `claim`, `where`, `verdict`, `evidence`, the `command` to repeat it, and `size`.

    printed: study → title and values of the paper's table. captions: name of a figure → its caption.
    """

    claims: Sequence[Mapping[str, str]] = ()
    printed: Mapping[str, tuple[str, Values]] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
