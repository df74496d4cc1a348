"""A study is data: named runs, how one is carried out, and a table made of their result lines."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from alfilter import __version__
from alfilter.errors import UserError
from alfilter.experiments.data import MissingData

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
    what `runs` makes smaller than that. threads: of every run, where its seconds are those of so many cores.
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
    threads: int | None = None
    source: Source | None = None

    def runs_in(self, data: str) -> list[Run]:
        """The runs, for a data folder."""
        runs: Callable[..., list[Run]] = self.runs
        parameters = inspect.signature(runs).parameters.values()
        takes_data = any(parameter.default is parameter.empty for parameter in parameters)
        return runs(data) if takes_data else runs()

    def at_scale(self, scale: str, data: str) -> Study:
        """A table or figure of the paper at a scale: `paper`, its own protocol; `half` of its size; `cpu`, as declared.

        half and paper take those files of their protocol that the data folder holds.
        """
        if scale == "cpu":
            note = f"\n\nThe CPU twin {self.shrinks}." if self.shrinks else ""
            return replace(self, summarise=lambda lines: self.summarise(lines) + note)
        declared = {"half": self.half, "paper": self.full}
        runs = declared[scale]
        if runs is None:
            known = ["cpu", *(name for name, there in declared.items() if there is not None)]
            raise UserError(f"{self.name} has no scale {scale}; expected {' or '.join(known)}")
        files = tuple(file for file in self.needs if (Path(data) / file).is_file())
        if not files:
            raise MissingData(data, self.needs)
        return replace(self, name=f"{self.name}-{scale}", runs=lambda: runs(files))


def table(lines: Lines, columns: Mapping[str, Callable[[dict[str, Any]], float | None]]) -> str:
    """A Markdown table: one row per group in order of appearance, with the number of its runs.

    A cell is the mean ± the standard deviation over signals, and in brackets that over the seeds of one signal.
    """
    groups: dict[str, Lines] = {}
    for line in lines:
        groups.setdefault(line["group"], []).append(line)
    rows = [["setting", "runs", *columns], ["---"] * (2 + len(columns))]
    for group, members in groups.items():
        cells = [
            _cell([(m.get("image", ""), value) for m in members if (value := read(m)) is not None])
            for read in columns.values()
        ]
        rows.append([group, str(len(members)), *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(values: list[tuple[str, float]]) -> str:
    """Values with their signals.

    >>> _cell([("a", 1.0), ("a", 3.0), ("b", 6.0), ("b", 8.0)])
    '4.50 ± 3.54 (± 1.41)'
    """
    from alfilter.metrics.summary import summarise  # its package needs torch, which a list of studies does not

    if not values:
        return "–"
    first = values[0][1]
    if all(value == first and value == int(value) for _, value in values) and first >= 1000:
        return f"{first:,.0f}"  # a count, such as that of the parameters
    summary = summarise(values)
    signals = f" ± {summary.over_signals:.2f}" if summary.over_signals is not None else ""
    seeds = f" (± {summary.over_seeds:.2f})" if summary.over_seeds is not None else ""
    return f"{summary.mean:.2f}{signals}{seeds}"


def seen_psnr(line: dict[str, Any], observe: str) -> float | None:
    """The seen PSNR of a line that observed that way."""
    return line["metrics"]["psnr"] if line["observe"] == observe else None


def heldout_psnr(line: dict[str, Any]) -> float | None:
    """The PSNR on held-out samples, where there are any."""
    return line["heldout"]["psnr"] if line["heldout"] else None
