"""Atomic writes: a file is written under a temporary name beside its place and then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from alfilter.errors import UserError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary neighbour of `path` that takes its place on success and vanishes on failure."""
    target = Path(path)
    try:
        temporary = target.with_name(f".{target.name}.{token_hex(4)}{target.suffix}")
        # with the permissions that the umask leaves, and never through a symbolic link in its place
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except (OSError, ValueError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise UserError(f"cannot write {target}: {reason}; give a folder you may write to") from error
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(target)
        with suppress(OSError):  # a system that cannot needs no sync
            _sync(target.parent)
    except OSError as error:
        raise UserError(
            f"cannot write {target}: {error.strerror or error}; free some space or write elsewhere"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data`, atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def find_temporary_folder(shared_memory: Path = Path("/dev/shm")) -> None:
    """Where the usual temporary folders are read-only, use the system's shared memory; libraries need a writable one.

    Python would use the working directory, and leave compiled kernels and fonts there.
    """
    named = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
    usual = {str(Path(name).resolve()) for name in (*named, "/tmp", "/var/tmp", "/usr/tmp") if name}
    with suppress(FileNotFoundError):
        if os.name == "nt" or str(Path(tempfile.gettempdir()).resolve()) in usual:
            return
    if os.access(shared_memory, os.W_OK | os.X_OK):
        tempfile.tempdir = os.environ["TMPDIR"] = str(shared_memory)  # here, and in the processes started from here


def _sync(path: Path) -> None:
    """Push a file to the disk, so that a rename never outlives its content, or a folder, so that the rename lasts."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
