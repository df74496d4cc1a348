"""A run folder, or a file of result lines, belongs to one process at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from alfilter.errors import UserError


class PathLock:
    """A lock on a folder or a file for as long as this process lives, or until `release`.

    It is the system's own: nothing is written, and a killed process leaves no lock behind. Where the system or the disk
    has none, nothing is locked. name: what a message calls it, if not by its path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, PathLock(Path(folder)) as lock:
    ...     lock.acquire()
    """

    def __init__(self, path: Path, name: str = "") -> None:
        self.path, self.name = path, name or str(path)
        self._handle: int | None = None

    def __enter__(self) -> PathLock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock, if it is not held yet; a UserError says which process has it."""
        if self._handle is not None or sys.platform == "win32":
            return
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            handle = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise UserError(
                f"cannot use {self.name}: {error.strerror or error}; give another folder", arguments=["out"]
            ) from error
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            inode = os.fstat(handle).st_ino
            os.close(handle)
            raise UserError(
                f"{self.name} is in use by {holder(inode)}; wait until it has ended, stop it, or give another folder",
                arguments=["out"],
            ) from error
        except OSError:  # a network disk without locks
            os.close(handle)
            return
        self._handle = handle

    def release(self) -> None:
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def holder(inode: int, table: Path = Path("/proc/locks")) -> str:
    """Who holds the lock on a file of that number, as far as the system tells."""
    try:
        lines = [line.split() for line in table.read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        lines = []
    for words in lines:  # number: FLOCK ADVISORY WRITE process device:device:inode start end
        if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(f":{inode}") and words[4].isdigit():
            return f"process {words[4]}"
    return "another process"
