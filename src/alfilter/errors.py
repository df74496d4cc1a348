"""The one error a user sees: a mistake in the input, explained in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class UserError(ValueError):
    """A mistake in what the caller gave: what was expected, what was got, what to do, in one line.

    The command line prints it without a traceback and ends with exit code 2.

    arguments: the names of the arguments that would fix it; the command line adds its own spelling of those it has.
    """

    def __init__(self, message: str, *, arguments: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.arguments = tuple(arguments)


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint that names the closest of `choices`, whatever the case, or all of them when none is close.

    >>> nearest("level", ["levels", "width"])
    "did you mean 'levels'?"
    >>> nearest("zzz", ["levels", "width"])
    'known: levels, width'
    """
    known = sorted(choices)
    close = closest(name, known)
    return f"did you mean {close!r}?" if close else f"known: {', '.join(known)}"


def closest(name: str, choices: Iterable[str]) -> str | None:
    """The one of `choices` that `name` is most likely meant to be, if any is close.

    >>> closest("Levles", ["levels", "width"]), closest("zzz", ["levels"])
    ('levels', None)
    """
    lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(name.lower(), lower, n=1)
    return lower[close[0]] if close else None


def need(module: str, extra: str = "shapes") -> Any:
    """The imported module, or the error that names the extra which brings it.

    extra: of this package, named in the error.

    >>> need("math").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        what = "shapes need" if extra == "shapes" else "this needs"
        package = module.split(".")[0]
        raise UserError(f"{what} {package}, which is not installed; pip install 'alfilter[{extra}]'") from error


def printable(text: str) -> str:
    """The text with letters that a terminal would act upon spelled out: names come from files too.

    >>> print(printable("α\x1b[2J"))
    α\\x1b[2J
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
