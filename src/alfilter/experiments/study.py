"""A study is data: named runs, how one is carried out, and a table made of their result lines."""

from __future__ import annotations

import inspect
import json
import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from alfilter import __version__

Lines = list[dict[str, Any]]


@dataclass(frozen=True)
class Run:
    """One fit of a study.

    group: the row of the table it counts for. image: a file below the data folder. size: side of the centred crop
    (none: the whole picture). settings and training: what differs from the preset; `params` among the
    settings is a number of parameters that the method is sized to.
    """

    group: str
    image: str
    method: str = "al-sine"
    preset: str = "default"
    size: int | None = None
    observe: str = "all"
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A stable name: everything that decides the result."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def heading(self) -> dict[str, Any]:
        """What every result line begins with: the declaration, the name, the version that carried it out."""
        return {**asdict(self), "name": self.name, "version": __version__}


@dataclass(frozen=True)
class Source:
    """The file a study was declared in: its text travels to workers that do not have the file."""

    path: str
    text: str


@dataclass(frozen=True)
class Study:
    """Runs, a table of their result lines, and how one is carried out.

    runs: a function of nothing, or of the data folder. execute: a run, the data folder and the number of threads → the
    result line; none takes `fitting.execute`. question: what it asks, in one line. full: for a study of the
    paper, its own protocol on those files of `needs` that there are; half: the same with every size halved; shrinks:
    what `runs` makes smaller than that.
    source: set by `read_study` for a study in a user's file.
    """

    name: str
    runs: Callable[[], list[Run]] | Callable[[str], list[Run]]
    summarise: Callable[[Lines], str]
    execute: Callable[[Run, str, int], dict[str, Any]] | None = None
    question: str = ""
    full: Callable[[tuple[str, ...]], list[Run]] | None = None
    half: Callable[[tuple[str, ...]], list[Run]] | None = None
    needs: tuple[str, ...] = ()
    shrinks: str = ""
    source: Source | None = None

    def runs_in(self, data: str) -> list[Run]:
        """The runs, for a data folder."""
        runs: Callable[..., list[Run]] = self.runs
        parameters = inspect.signature(runs).parameters.values()
        takes_data = any(parameter.default is parameter.empty for parameter in parameters)
        return runs(data) if takes_data else runs()


def table(lines: Lines, columns: Mapping[str, Callable[[dict[str, Any]], float | None]]) -> str:
    """A Markdown table: one row per group in order of appearance; mean ± spread over its runs in every column."""
    groups: dict[str, Lines] = {}
    for line in lines:
        groups.setdefault(line["group"], []).append(line)
    rows = [["setting", "runs", *columns], ["---"] * (2 + len(columns))]
    for group, members in groups.items():
        cells = [_cell([value for m in members if (value := read(m)) is not None]) for read in columns.values()]
        rows.append([group, str(len(members)), *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(values: list[float]) -> str:
    if not values:
        return "–"
    if all(value == values[0] and value == int(value) for value in values) and values[0] >= 1000:
        return f"{values[0]:,.0f}"  # a count, such as that of the parameters
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{spread}"


def seen_psnr(line: dict[str, Any], observe: str) -> float | None:
    """The seen PSNR of a line that observed that way."""
    return line["metrics"]["psnr"] if line["observe"] == observe else None


def heldout_psnr(line: dict[str, Any]) -> float | None:
    """The PSNR on held-out samples, where there are any."""
    return line["heldout"]["psnr"] if line["heldout"] else None
