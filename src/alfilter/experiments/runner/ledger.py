"""The file of a study's result lines: one line per run, whole lines only, one writer at a time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from alfilter.errors import UserError
from alfilter.files import write_text

if TYPE_CHECKING:
    from alfilter.runs.lock import PathLock


class Ledger:
    """The result lines of a study in one file, open for appending inside a `with`.

    lines: what the file holds, by the name of the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        self._stream: IO[str] | None = None
        self._lock: PathLock | None = None

    def __enter__(self) -> Ledger:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path)
            self._repair()
            self._stream = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror or error}; give another folder") from error
        return self

    def __exit__(self, *error: object) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._lock is not None:
            self._lock.release()

    def add(self, line: dict[str, Any]) -> None:
        """Append a result and push it to the disk; one that is there already is left alone."""
        if line["name"] in self.lines:
            return
        from alfilter.runs.folder import append_json_line

        assert self._stream is not None
        append_json_line(self._stream, line)
        os.fsync(self._stream.fileno())
        self.lines[line["name"]] = line

    def _repair(self) -> None:
        """Read the file; rewrite it without the line that was being written when a machine stopped."""
        from alfilter.runs.folder import read_json_lines

        stored = read_json_lines(self.path)
        self.lines = {line["name"]: line for line in stored if line is not None and isinstance(line.get("name"), str)}
        if len(self.lines) != len(stored):
            write_text(self.path, "".join(json.dumps(line) + "\n" for line in self.lines.values()))


def _locked(path: Path) -> PathLock:
    """The lock of a file that is replaced as a whole: on a neighbour, which stays."""
    from alfilter.runs.lock import PathLock

    lock = PathLock(path.with_name(f".{path.name}.lock"), str(path))
    lock.path.touch()
    lock.acquire()
    return lock
