"""What the server shows: a viewer has one page and answers its requests.

`PictureViewer`, `SoundViewer` and `ShapeViewer` are the three of them. A request is numbers in words (a query, or a
JSON object); an answer is a plain object, sent as JSON, or bytes.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from alfilter.errors import UserError


class Forbidden(Exception):
    """The request is understood, but its sender may not make it."""


class Binary(NamedTuple):
    """An answer in bytes, and the words that say what they are: `128x96x3 u2`."""

    data: bytes
    description: str


@dataclass(frozen=True)
class Request:
    """One request of the page.

    values: its query or JSON object. is_wanted: whether the page still waits for the answer. is_local: whether it comes
    from this machine.
    """

    values: Mapping[str, Any]
    is_wanted: Callable[[], bool] = lambda: True
    is_local: bool = True

    def integer(self, name: str) -> int:
        """A whole number, 0 where there is none.

        >>> Request({"z": "-3"}).integer("z"), Request({}).integer("z")
        (-3, 0)
        """
        value = self.values.get(name, "0")
        text = str(value)
        if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,15}", text):
            raise UserError(f"{name} must be a whole number, got {text[:20]!r}")
        return int(text)

    def number(self, name: str) -> float:
        """A finite number, 0 where there is none.

        >>> Request({"x": "0.25"}).number("x")
        0.25
        """
        value = _parsed(self.values.get(name, "0"))
        if not math.isfinite(value):
            raise UserError(f"{name} must be a finite number, got {str(self.values.get(name))[:20]!r}")
        return value

    def numbers(self, name: str) -> list[float]:
        """Finite numbers with commas between them; they must be there.

        >>> Request({"at": "2,0.5"}).numbers("at")
        [2.0, 0.5]
        """
        text = str(self.values.get(name, ""))[:120]
        values = [_parsed(word) for word in text.split(",")]
        if not all(map(math.isfinite, values)):
            raise UserError(f"{name} must be numbers with commas between them, got {text[:20]!r}")
        return values

    def coordinate(self, name: str) -> float:
        """A number from -1 to 1; it must be there."""
        value = _parsed(self.values.get(name, ""))
        if not -1 <= value <= 1:
            raise UserError(f"{name} must be a number from -1 to 1, got {str(self.values.get(name))[:20]!r}")
        return value

    def choice(self, name: str, choices: Sequence[int]) -> int:
        """One of some whole numbers; it must be there.

        >>> Request({"axis": "2"}).choice("axis", (0, 1, 2))
        2
        """
        text = str(self.values.get(name, ""))[:12]
        if text not in {str(choice) for choice in choices}:
            raise UserError(f"{name} must be one of {', '.join(map(str, choices))}, got {text!r}")
        return int(text)


def _parsed(value: object) -> float:
    try:
        return float(str(value)[:40])
    except ValueError:
        return math.nan


Answer = Callable[[Request], "Mapping[str, Any] | Binary"]


class Viewer(ABC):
    """The models of one page, and everything that may be asked about them.

    page: which of the page's variants, see `template.page_html`. reads: what a GET of a path answers. changes: what a
    POST does, for a page that may change something.
    """

    page: ClassVar[str]

    @property
    @abstractmethod
    def reads(self) -> Mapping[str, Answer]: ...

    @property
    def changes(self) -> Mapping[str, Answer]:
        return {}

    @abstractmethod
    def warm_up(self) -> None:
        """Evaluate a point or two: kernels are compiled before anyone waits."""

    @abstractmethod
    def close(self) -> None:
        """End the threads that evaluate."""
