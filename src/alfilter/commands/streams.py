"""The standard streams of a command, which may be closed, broken or full."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO


def open_standard_streams() -> None:
    """Open closed standard streams on the null device: the next file opened would get their number and output."""
    for handle in (0, 1, 2):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    nowhere = Path(os.devnull)
    if sys.stdout is None:
        sys.stdout = nowhere.open("w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = nowhere.open("w", encoding="utf-8")


def discard(stream: TextIO) -> None:
    """Send what is still to be written to a stream to the null device, instead of failing once more at the end."""
    with suppress(OSError, ValueError):  # it may be no file at all
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class SafeStream(io.TextIOBase):
    """A stream that may fail in some ways, after which what is written to it is dropped.

    errors: BrokenPipeError for results that are no longer read; OSError for messages, a full disk included.

    >>> SafeStream(sys.stderr, OSError).write("")
    0
    """

    def __init__(self, stream: TextIO, errors: type[OSError]) -> None:
        self._stream, self._errors = stream, errors

    def write(self, text: str, /) -> int:
        try:
            return self._stream.write(text)
        except self._errors:
            discard(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except self._errors:
            discard(self._stream)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding
