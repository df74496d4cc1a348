"""Checks before a user's file is read: can it be opened, what do its first bytes say, does it fit in memory?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from alfilter.errors import UserError, closest
from alfilter.runtime.limits import free_memory

_NEIGHBOURS = 1000  # names among which the one that was meant is sought

# first bytes of files that people have, by which they are named when they are given in the wrong place
_KNOWN = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"GIF8", "a GIF"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"PK", "a zip archive or an .npz"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF document"),
    (b"ID3", "an MP3 sound"),
    (b"\xff\xfb", "an MP3 sound"),
    (b"fLaC", "a FLAC sound"),
    (b"OggS", "an Ogg sound or video"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x80\x04", "a pickle"),
    (b"ply", "a PLY shape"),
    (b"glTF", "a GLB shape"),
)


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
        raise UserError(f"cannot read {file}: no such file; {_neighbour(file)}") from error
    except PermissionError as error:
        raise UserError(f"cannot read {file}: permission denied; make it readable (chmod +r)") from error
    except (OSError, ValueError) as error:  # a name too long, a null byte in the name, a failing disk
        raise UserError(f"cannot read {file}: {error}; check the path") from error
    if not start:
        raise UserError(f"cannot read {file}: the file is empty; get it again")
    return start


def _neighbour(file: Path) -> str:
    """A hint at the file of a similar name in the same folder, if there is one."""
    try:
        close = closest(file.name, islice((each.name for each in file.parent.iterdir()), _NEIGHBOURS))
    except OSError:
        close = None
    return f"did you mean {str(file.parent / close)!r}?" if close else "check the path"


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
    """A few words on what the content of a file seems to be, for an error message.

    >>> looks_like(b"hello"), looks_like(bytes([0, 159, 1])), looks_like(b"ID3\\x03")
    ('text', 'unknown data starting with 00 9f 01', 'an MP3 sound')
    """
    if looks_like_model(start):
        return "a model file"
    if start[:4] == b"RIFF":
        return {b"WAVE": "a WAV sound", b"WEBP": "a WebP picture", b"AVI ": "an AVI video"}.get(
            start[8:12], "RIFF data"
        )
    if start[4:8] == b"ftyp":
        return "an MP4 or MOV video"
    for mark, name in _KNOWN:
        if start.startswith(mark):
            return name
    printable = all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start)
    return "text" if printable else f"unknown data starting with {start[:4].hex(' ')}"
