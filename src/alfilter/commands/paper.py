"""What `alfilter experiment` does for the paper's tables and figures: scales, figures, verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alfilter.errors import UserError, nearest

if TYPE_CHECKING:
    from alfilter.experiments import Experiment

OUT = "runs/experiments"


def at_scale(name: str, scale: str, data: str, fetch: bool = False) -> Experiment:
    """The study behind a table or figure of the paper at a scale, its data fetched if asked."""
    from alfilter.experiments import PAPER
    from alfilter.experiments.data import fetch_missing

    if name not in PAPER:
        raise UserError(f"{name!r} is no table or figure of the paper; {nearest(name, PAPER)}")
    if fetch:
        fetch_missing(data)
    return PAPER[name].at(scale, data)


def write_figures(item: str, study: str, lines: Any, out: str | None, say: Callable[[str], None]) -> None:
    """The figures of a table or figure of the paper, beside its result lines."""
    from alfilter.report.figures.paper import write_plates

    for path in write_plates(item, study, lines, Path(out or OUT)):
        say(f"figure {path}")


def print_paper() -> None:
    """The paper's tables and figures that are no study of their own but a view of one, and the verdicts."""
    from alfilter.experiments import EXPERIMENTS, PAPER

    for name, item in PAPER.items():
        if name not in EXPERIMENTS:
            print(f"{name:<16}{item.shows} (the runs of {item.study.name})")
    print(f"{'claims':<16}every claim of the paper that finished studies can judge, with its verdict")


def print_claims(out: str | None) -> int:
    """A Markdown table of the claims, judged by the result lines in a folder."""
    from alfilter.experiments.paper.claims import judged
    from alfilter.report.overview.collect import read_results

    folder = Path(out or OUT)
    lines = {path.stem: read_results(path) for path in sorted(folder.glob("*.jsonl"))}
    if not lines:
        raise UserError(f"no result lines in {folder}; run a study first, 'alfilter experiment --list' names them")
    print("| the paper says | where | here | evidence | command |\n|---|---|---|---|---|")
    for v in judged(lines):
        print(f"| {v.claim} | {v.where} | **{v.verdict}** | {v.evidence} | `{v.command}` |")
    return 0
