"""Checks before a user's file is read: can it be opened, what do its first bytes say, does it fit in memory?"""

from __future__ import annotations

from pathlib import Path

from alfilter.errors import UserError
from alfilter.runtime.limits import free_memory


def head(path: str | Path, count: int = 64) -> bytes:
    """The first `count` bytes of a readable, regular, non-empty file."""
    file = Path(path)
    try:
        if file.is_dir():
            raise UserError(f"cannot read {file}: it is a folder; give a file inside it")
        if file.exists() and not file.is_file():  # reading a pipe or a device might never end
            raise UserError(f"cannot read {file}: it is not a regular file; save the data to a file first")
        with file.open("rb") as handle:
            start = handle.read(count)
    except UserError:
        raise
    except FileNotFoundError as error:
        raise UserError(f"cannot read {file}: no such file; check the path") from error
    except PermissionError as error:
        raise UserError(f"cannot read {file}: permission denied; make it readable (chmod +r)") from error
    except (OSError, ValueError) as error:  # a name too long, a null byte in the name, a failing disk
        raise UserError(f"cannot read {file}: {error}; check the path") from error
    if not start:
        raise UserError(f"cannot read {file}: the file is empty; get it again")
    return start


def is_folder(file: Path) -> bool:
    """Whether a path is a folder; False if the system cannot tell, and reading it will say why."""
    try:
        return file.is_dir()
    except (OSError, ValueError):
        return False


def check_memory(file: Path, needed: int) -> None:
    """Refuse, before it is read, what would not fit in memory. needed: bytes."""
    free = free_memory()
    if free is not None and needed > free:
        wanted, available = (f"{count / 2**30:.1f} GB" for count in (needed, free))
        raise UserError(
            f"cannot read {file}: it needs {wanted} of memory, {available} are available; crop or shrink it"
        )


def looks_like_model(start: bytes) -> bool:
    """Whether a file's first bytes are those of safetensors: a length, then JSON.

    >>> looks_like_model((20).to_bytes(8, "little") + b'{"__metadata__"'), looks_like_model(b"hello")
    (True, False)
    """
    return len(start) > 9 and start[8:10] == b'{"' and 2 <= int.from_bytes(start[:8], "little") < 1 << 32


def looks_like(start: bytes) -> str:
    """A few words on what unknown content seems to be, for an error message.

    >>> looks_like(b"hello"), looks_like(bytes([0, 159, 1]))
    ('text', 'unknown data starting with 00 9f 01')
    """
    printable = all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start)
    return "text" if printable else f"unknown data starting with {start[:4].hex(' ')}"
