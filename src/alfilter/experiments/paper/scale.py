"""A table or figure of the paper at a scale: the paper's own protocol, half of its size, or a twin for two cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from alfilter.errors import UserError
from alfilter.experiments.data import MissingData
from alfilter.experiments.study import Lines, Study


def at_scale(study: Study, scale: str, data: str) -> Study:
    """The study at a scale; half and paper take those files of their protocol that the data folder holds."""
    if scale == "cpu":
        return replace(study, summarise=lambda lines: twin_text(study, lines))
    declared = {"half": study.half, "paper": study.full}
    runs = declared[scale]
    if runs is None:
        known = ["cpu", *(name for name, there in declared.items() if there is not None)]
        raise UserError(f"{study.name} has no scale {scale}; expected {' or '.join(known)}")
    files = present(data, study.needs)
    return replace(study, name=f"{study.name}-{scale}", runs=lambda: runs(files))


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
