"""The one error a user sees: a mistake in what was given, said in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """A mistake in what the caller gave: what was expected, what was got, what to do, in one line.

    The command line prints it without a traceback and ends with exit code 2.
    """


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint that names the closest of `choices`, or all of them when none is close.

    >>> nearest("level", ["levels", "width"])
    "did you mean 'levels'?"
    >>> nearest("zzz", ["levels", "width"])
    'known: levels, width'
    """
    known = sorted(choices)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
