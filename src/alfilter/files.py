"""Whole files or none: every write goes to a neighbour first and is renamed into place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from alfilter.errors import UserError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary neighbour of `path` that takes its place on success and vanishes on failure."""
    target = Path(path)
    try:
        handle, name = mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}; give a folder you may write to") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _sync(temporary)
        temporary.chmod(0o644)
        temporary.replace(target)
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


def _sync(path: Path) -> None:
    """Push the file to the disk, so that a rename never outlives its content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
