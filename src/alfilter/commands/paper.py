"""The paper beside our runs: its claims judged by result lines, its printed values, its captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alfilter.commands.shared import print_json
from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.report.overview.collect import Facts


def study_command(study: str, scale: str) -> str:
    """The command that runs a study at a scale.

    >>> study_command("sparse", "paper"), study_command("memory", "")
    ('alfilter experiment sparse --scale paper', 'alfilter experiment memory')
    """
    return f"alfilter experiment {study}" + (f" --scale {scale}" if scale else "")


def paper_facts(lines: Mapping[str, Sequence[Mapping[str, Any]]]) -> Facts:
    """What the paper says about studies with these result lines: claims judged, printed values, captions."""
    from alfilter.experiments import STUDIES
    from alfilter.experiments.paper.claims import judged
    from alfilter.experiments.paper.printed import printed_for
    from alfilter.report.overview.collect import Facts

    claims = [verdict._asdict() for verdict in judged(lines, study_command) if verdict.known]
    tables = {study: table for study in lines if (table := printed_for(study)) is not None}
    printed = {study: (table.title, table.values) for study, table in tables.items()}
    captions = {name: study.question for name, study in STUDIES.declared.items() if study.paper}
    return Facts(claims, printed, captions)


def print_claims(out: str | None, as_json: bool = False) -> int:
    """A table of the claims, or one object: judged by the lines in a folder, or by those that ship with the package."""
    from alfilter.experiments.committed import committed_lines, read_lines
    from alfilter.experiments.paper.claims import judged
    from alfilter.experiments.verdicts import verdict_table

    lines = committed_lines() if out is None else read_lines(Path(out))
    if not lines:
        raise UserError(f"no result lines in {out}; run a study first, 'alfilter experiment --list' names them")
    verdicts = judged(lines, study_command)
    if as_json:
        print_json({"claims": [verdict._asdict() for verdict in verdicts]})
    else:
        print(verdict_table(verdicts))
    return 0
