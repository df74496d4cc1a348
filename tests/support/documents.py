"""The documents as data: their code blocks, code spans, headings and links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "examples/README.md")
PAGES = [*(ROOT / name for name in BESIDE), *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    """A page's path inside the repository."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line of the page it starts on."""

    page: Path
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def blocks(page: Path, language: str) -> list[Block]:
    """The fenced blocks of a page in one language, in order."""
    text = page.read_text(encoding="utf-8")
    every = [Block(page, m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(text)]
    return [block for block in every if block.language == language]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def code_spans(page: Path) -> list[str]:
    """What stands between single backticks in a page's prose."""
    return _SPAN.findall(prose(page))


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures that are not addresses of the web; code is no link."""
    targets = _LINK.findall(re.sub(r"(?<!\[)`[^`\n]+`", "", prose(page)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def slug(heading: str) -> str:
    """The anchor of a heading, as the site and GitHub make it.

    >>> slug("What `α` should be: measured")
    'what-α-should-be-measured'
    """
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", prose(page), re.M)}


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block as words, without comments; a trailing backslash continues a line."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            words = shlex.split(part, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):  # a variable for this command
                words = words[1:]
            if words:
                yield words
