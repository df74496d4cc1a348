"""Writes the tables of reference/options.md from the options themselves: python docs/options.py"""

from __future__ import annotations

import math
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from alfilter.config import Training
from alfilter.methods import METHODS

PAGE = Path(__file__).parent / "reference" / "options.md"
START = "<!-- the tables below are written by docs/options.py -->\n"


def default(option: Field[Any]) -> str:
    """The default as it is written on the command line.

    >>> default(fields(Training)[1])
    'none'
    """
    value = option.default
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def meaning(option: Field[Any]) -> str:
    """The option's documentation and the words it may take."""
    choices = ", ".join(f"`{choice}`" for choice in option.metadata["choices"])
    return option.metadata["doc"].replace("|", "\\|") + (f" ({choices})" if choices else "")


def table(options: type) -> str:
    """One row per option of a dataclass."""
    rows = [f"| `{option.name}` | {default(option)} | {meaning(option)} |" for option in fields(options)]
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *rows, ""])


def tables() -> str:
    """Everything below the marker of the page."""
    parts = ["## Training", "The defaults are the paper's recipe for images; presets change them.", table(Training)]
    own = {name: row for name, row in METHODS.items() if row.options.__module__.startswith("alfilter.")}
    for name, method in own.items():  # not those of other installed packages
        parts += [f"## `{name}`", f"{method.title}. Presets: {', '.join(method.presets)}.", table(method.options)]
    return "\n" + "\n\n".join(part.strip("\n") for part in parts) + "\n"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(START) + len(START)] + tables(), encoding="utf-8")
