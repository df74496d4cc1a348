"""A table or figure of the paper at a scale: the paper's own protocol, or its twin for two cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from alfilter.errors import UserError
from alfilter.experiments.data import MissingData
from alfilter.experiments.study import Lines, Study

SCALES = ("cpu", "paper")


def at_scale(study: Study, scale: str, data: str) -> Study:
    """The study at a scale; the paper's takes those files of its protocol that the data folder holds."""
    if scale == "cpu":
        return replace(study, summarise=lambda lines: twin_text(study, lines))
    full = study.full
    if full is None:
        raise UserError(f"{study.name} has one scale only; expected the scale cpu, got {scale}")
    files = present(data, study.needs)
    return replace(study, name=f"{study.name}-paper", runs=lambda: full(files))


def twin_text(study: Study, lines: Lines) -> str:
    """The table of the twin, and what it makes smaller."""
    text = study.summarise(lines)
    return f"{text}\n\nThe CPU twin {study.shrinks}." if study.shrinks else text


def present(data: str, needs: Sequence[str]) -> tuple[str, ...]:
    """The files of a protocol that are there; at least one must be."""
    files = tuple(file for file in needs if (Path(data) / file).is_file())
    if not files:
        raise MissingData(data, needs)
    return files
