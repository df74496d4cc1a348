"""Whether a run may use its folder, and whether the run in it is the one that is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alfilter.config import without_removed
from alfilter.errors import UserError
from alfilter.runs.extension import LENGTH
from alfilter.runs.folder import FILES, RunFolder
from alfilter.runs.lock import PathLock
from alfilter.runs.request import FitRequest
from alfilter.training.checkpoint import first_difference

_QUICK = 1 << 23  # bytes of a signal that is read before the folder is checked


def is_quick_to_read(signal: str) -> bool:
    """Whether a signal is a sample, or a file of a few megabytes, or nothing that can be read at all."""
    try:
        file = Path(signal).expanduser()
        return signal.startswith("sample:") or not file.is_file() or file.stat().st_size < _QUICK
    except (OSError, ValueError, RuntimeError):
        return True


def take_folder(folder: RunFolder, request: FitRequest, lock: PathLock) -> None:
    """Check the folder, and lock it if it exists."""
    check_folder(folder, request)
    if folder.path.exists():
        lock.acquire()
        check_folder(folder, request)  # another process may have finished a run in between


def check_folder(folder: RunFolder, request: FitRequest) -> None:
    """Before any work: a run is not overwritten unless asked for, and other files never are."""
    try:
        if folder.path.exists() and not folder.path.is_dir():
            raise UserError(f"a run is written into a folder, {folder} is a file; give another name", arguments=["out"])
        if not folder.path.exists():
            return
        names = folder.contents()
        source, home = Path(request.signal).resolve(), folder.path.resolve()
    except (OSError, RuntimeError) as error:
        raise UserError(f"cannot use the folder {folder}: {error}; give another one", arguments=["out"]) from error
    if request.resume and names and folder.config.name not in names:
        raise UserError(f"{folder} holds files but no run to resume; give another folder", arguments=["out"])
    if names and not request.resume and not folder.holds_run:
        raise UserError(
            f"{folder} holds files but no run, and they are not written over; give a new folder or an empty one",
            arguments=["out"],
        )
    if names and not (request.resume or request.overwrite):
        raise UserError(
            f"{folder} holds a run already; resume or overwrite it, or give another folder",
            arguments=["resume", "overwrite", "out"],
        )
    if source.parent == home and source.name in FILES:
        raise UserError(
            f"{request.signal} is a file of the run that would be written over; give another folder", arguments=["out"]
        )


def check_same(folder: RunFolder, stored: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    for key in ("method", "seed", "signal", "options", "training"):  # options follow from what comes before
        new = _comparable(config[key])
        old = _comparable(without_removed(stored.get(key), config[key]))
        if old != new:
            before, now = first_difference(old, new)
            raise UserError(
                f"the run in {folder} has {key} {before}, this one {now}; give the same, or overwrite it",
                arguments=["overwrite"],
            )


def _comparable(value: Any) -> Any:
    """A signal is known by its content, since the file may have moved; a run may be made longer."""
    return {k: v for k, v in value.items() if k not in ("source", *LENGTH)} if isinstance(value, dict) else value
