"""Fits of a study that was stopped: each continues from its last checkpoint, to the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from alfilter.experiments.study import Run

if TYPE_CHECKING:
    from alfilter.runs.fitting import Fitted, PreparedFit

FOLDER = ".unfinished"  # beside the result lines
_here: ContextVar[Path | None] = ContextVar("unfinished", default=None)


@contextmanager
def kept_in(folder: str | None) -> Iterator[None]:
    """Inside it, `fit_resumably` keeps the state of a fit in this folder; without one, nowhere."""
    token = _here.set(Path(folder) if folder is not None else None)
    try:
        yield
    finally:
        _here.reset(token)


def fit_resumably(run: Run, prepared: PreparedFit) -> Fitted:
    """Train a run's field, from where the same fit stood when it was stopped; what it kept goes when it ends."""
    folder = _here.get()
    if folder is None:
        return prepared.fit()
    from alfilter.runs.folder import History, read_history

    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / _key(run, prepared)
    checkpoint, lines = stem.with_suffix(".safetensors"), stem.with_suffix(".jsonl")
    with History(lines) as history:
        fitted = prepared.fit(checkpoint=checkpoint, on_log=history.append, on_start=history.truncate)
    whole = read_history(lines)  # the steps before the stop, too
    for file in (checkpoint, lines):
        file.unlink(missing_ok=True)
    return replace(fitted, result=replace(fitted.result, history=whole))


def remove_if_empty(folder: Path) -> None:
    """Once no worker writes to it any more: the folder goes when every fit in it has ended."""
    with suppress(OSError):  # it holds the state of a fit, or was never made
        folder.rmdir()


def _key(run: Run, prepared: PreparedFit) -> str:
    """A name for everything that the fit's last digits depend on."""
    import torch

    setting = {**asdict(prepared.setting.training), **prepared.field.spec}
    facts = [run.name, run.heading["version"], setting, prepared.task.describe(), torch.get_num_threads()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:24]
