"""The arrays of an .npz file, looked at by their headers and read one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.signals.file_checks import check_memory

_RATIO = {ZIP_STORED: 1, ZIP_DEFLATED: 1032}  # the most bytes that a stored one becomes
_LONGEST_HEADER = 10_000  # bytes, as in NumPy
Check = Callable[[Path, Sequence[str], Sequence[str]], None]


class Entry(NamedTuple):
    """An array of the archive, as its header describes it."""

    name: str
    info: ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def columns(self) -> dict[str, Any]:
        """The columns it makes, and where each is in the array."""
        if self.dtype.names:
            return {field: field for field in self.dtype.names}
        if len(self.shape) == 1:
            return {self.name or "0": ...}
        if len(self.shape) == 2:
            return {f"{self.name}{number}": (slice(None), number) for number in range(self.shape[1])}
        return {}


def read_archive(file: Path, names: Sequence[str], check: Check) -> dict[str, Any]:
    """Columns of an archive by name: the named ones, read; without names all of them, not read.

    check: refuses names that are not among the columns.
    """
    with ZipFile(file) as archive:
        entries = [_look(archive, info) for info in archive.infolist() if info.filename.endswith(".npy")]
        places = {column: (entry, place) for entry in entries for column, place in entry.columns().items()}
        if not names:
            return dict.fromkeys(places)
        check(file, names, list(places))
        chosen = {places[name][0].name: places[name][0] for name in names}
        check_memory(file, 2 * sum(_size(entry) for entry in chosen.values()))
        arrays = {name: _read(archive, entry) for name, entry in chosen.items()}
        return {name: arrays[places[name][0].name][places[name][1]] for name in names}


def read_array_of(file: Path, axes: int) -> NDArray[Any] | None:
    """The one array of an archive that has so many axes; none where it has none, or is damaged before it says so."""
    entries = _entries(file)
    chosen = [entry for entry in entries or () if len(entry.shape) == axes]
    if not chosen:
        return None
    if len(chosen) > 1:
        names = ", ".join(entry.name for entry in chosen)
        raise UserError(f"expected one array of {axes} axes in {file}, got {names}; save the one to fit alone")
    check_memory(file, 3 * _size(chosen[0]))
    try:
        with ZipFile(file) as archive:
            return _read(archive, chosen[0])
    except Exception as error:  # damaged bytes make a decoder fail in every way there is
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise UserError(f"cannot read {file}: {reason}; it is damaged or cut short, get it again") from error


def contents(file: Path) -> str | None:
    """The arrays of an archive in words, without reading them; none for a file that is no such archive."""
    entries = _entries(file)
    return ", ".join(f"{entry.name} {entry.shape} {entry.dtype}" for entry in entries[:8]) or None if entries else None


def _entries(file: Path) -> list[Entry] | None:
    """The arrays of an archive by their headers; none for a file that is no such archive."""
    try:
        with ZipFile(file) as archive:
            return [_look(archive, info) for info in archive.infolist() if info.filename.endswith(".npy")]
    except Exception:  # damaged in any way: its reader will say how
        return None


def _look(archive: ZipFile, info: ZipInfo) -> Entry:
    """An entry's header; sizes that its bytes cannot hold are refused."""
    with archive.open(info) as stream:
        shape, dtype = _header(stream)
    entry = Entry(info.filename.removesuffix(".npy"), info, shape, dtype)
    ratio = _RATIO.get(info.compress_type)
    if _size(entry) > info.file_size or (ratio is not None and info.file_size > ratio * info.compress_size + 64):
        raise ValueError(f"{info.filename} is of {shape}, which its {info.compress_size:,} bytes cannot hold")
    return entry


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    is_first = npy.read_magic(stream) == (1, 0)
    length = stream.read(2 if is_first else 4)
    if (size := int.from_bytes(length, "little")) > _LONGEST_HEADER:  # NumPy would unpack it before it refuses it
        raise ValueError(f"its header of {size:,} bytes is too long")
    read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
    shape, _, dtype = read(BytesIO(length + stream.read(size)))
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never read")
    if any(n < 0 for n in shape):
        raise ValueError(f"it has the shape {shape}")
    return shape, dtype


def _size(entry: Entry) -> int:
    return prod(entry.shape) * entry.dtype.itemsize


def _read(archive: ZipFile, entry: Entry) -> NDArray[Any]:
    with archive.open(entry.info) as stream:
        array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    return array
