"""The HTML of a page: one frame, whose gaps a picture's page and a shape's page fill with their own parts."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources


@cache
def page_html(name: str) -> bytes:
    """`assets/frame.html` with the parts of `assets/NAME.html` in its gaps.

    >>> b"<title>alfilter: look inside a shape</title>" in page_html("shape")
    True
    """
    return fill(_asset("frame.html"), split_parts(_asset(f"{name}.html"))).encode()


def split_parts(text: str) -> dict[str, str]:
    """The parts of a file, each under a line `<!-- part: NAME -->`.

    >>> split_parts("<!-- part: title -->\\nA shape\\n<!-- part: keys -->\\n<p>x</p>\\n")
    {'title': 'A shape', 'keys': '<p>x</p>'}
    """
    _, *pieces = re.split(r"^<!-- part: ([a-z-]+) -->\n", text, flags=re.MULTILINE)
    return {name: part.rstrip("\n") for name, part in zip(pieces[::2], pieces[1::2], strict=True)}


def fill(frame: str, parts: dict[str, str]) -> str:
    """The frame with a part for each of its `{{NAME}}`; every part is used, and none is missing.

    >>> fill("<h1>{{title}}</h1>", {"title": "A shape"})
    '<h1>A shape</h1>'
    """
    names = re.findall(r"{{([a-z-]+)}}", frame)
    if set(names) != set(parts):
        raise ValueError(f"the frame needs {sorted(set(names))}, the page has {sorted(parts)}")
    return re.sub(r"{{([a-z-]+)}}", lambda gap: parts[gap[1]], frame)


def _asset(name: str) -> str:
    return resources.files("alfilter.viewer").joinpath("assets", name).read_text(encoding="utf-8")
