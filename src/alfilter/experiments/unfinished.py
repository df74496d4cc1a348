"""Fits of a study that was stopped: each continues from its last checkpoint.

A fit of a fixed number of steps ends in the same bits as one that was never stopped. With a `budget` the number of
steps differs from run to run, whether they are stopped or not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from alfilter.experiments.study import Run

if TYPE_CHECKING:
    from alfilter.runs.fitting import Fitted, PreparedFit


@dataclass(frozen=True)
class _Kept:
    """A folder, and the files in it of the fits that were begun."""

    folder: Path
    files: list[Path] = field(default_factory=list)

    def remove_files(self) -> None:
        for file in self.files:
            file.unlink(missing_ok=True)


_here: ContextVar[_Kept | None] = ContextVar("unfinished", default=None)


def folder_beside(lines: Path) -> Path:
    """The folder for the fits of a study whose result lines are in this file; its lock guards both.

    >>> folder_beside(Path("/runs/minute.jsonl")).as_posix()
    '/runs/.minute.unfinished'
    """
    return lines.resolve().with_name(f".{lines.stem}.unfinished")


@contextmanager
def kept_in(folder: str | None) -> Iterator[None]:
    """Inside it, `fit_resumably` keeps the state of fits in this folder; without one, nowhere.

    Their files go at its end, unless that is an error: a run that is stopped in its scores is not fitted again.
    """
    kept = None if folder is None else _Kept(Path(folder))
    token = _here.set(kept)
    try:
        yield
        if kept is not None:
            kept.remove_files()
    finally:
        _here.reset(token)


def fit_resumably(run: Run, prepared: PreparedFit) -> Fitted:
    """Train a run's field, inside `kept_in` from where the same fit stood when it was stopped."""
    kept = _here.get()
    if kept is None:
        return prepared.fit()
    from alfilter.runs.fitting import NotFinite
    from alfilter.runs.folder import History, read_history

    kept.folder.mkdir(parents=True, exist_ok=True)
    stem = kept.folder / _key(run, prepared)
    checkpoint, lines = stem.with_suffix(".safetensors"), stem.with_suffix(".jsonl")
    kept.files.extend((checkpoint, lines))
    try:
        with History(lines) as history:
            fitted = prepared.fit(checkpoint=checkpoint, on_log=history.append, on_start=history.truncate)
    except NotFinite:  # going on from there would end the same way
        kept.remove_files()
        raise
    whole = read_history(lines)  # the steps before the stop, too
    return replace(fitted, result=replace(fitted.result, history=whole))


def _key(run: Run, prepared: PreparedFit) -> str:
    """A name for everything that the fit's last digits depend on."""
    import torch

    setting = {**asdict(prepared.setting.training), **prepared.field.spec}
    facts = [run.name, run.heading["version"], setting, prepared.task.describe(), torch.get_num_threads()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:24]
