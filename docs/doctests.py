"""A griffe extension for the API pages: doctests in docstrings become code blocks, as Markdown would not know them."""

from __future__ import annotations

from typing import Any

import griffe


def fenced(text: str) -> str:
    """Every paragraph of `text` that starts with a prompt, inside a code fence.

    >>> print(fenced("Add one.\\n\\n>>> 1 + 1\\n2\\n\\nDone."))
    Add one.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    Done.
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"```pycon\n{p}\n```" if p.lstrip().startswith(">>>") else p for p in paragraphs)


class Doctests(griffe.Extension):
    """Applied to every object that has a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
