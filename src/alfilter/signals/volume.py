"""Volumes as signals: NIfTI-1 files in and out, read with every length checked and never more than the header says."""

from __future__ import annotations

import gzip
import struct
import zlib
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.files import replacing
from alfilter.signals.file_checks import check_memory
from alfilter.signals.mapped import check_finite
from alfilter.signals.signal import GridSignal

HEADER = 348
_FIRST = 352  # bytes before the samples of a single file: the header and four for extensions
_CODES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4"}
TYPES = {np.dtype(name): code for code, name in _CODES.items()}  # how NIfTI calls them
_CHANNELS = 16
_DEFLATE = 1032  # the most bytes that one compressed byte becomes
Array = NDArray[Any]
Steps = tuple[float, ...]


class Plan(NamedTuple):
    """What a header promises: the sizes (x, y, z, channels), how a number is stored, and where they begin."""

    shape: tuple[int, int, int, int]
    dtype: np.dtype[Any]
    offset: int
    slope: float
    inter: float


def is_nifti(start: bytes) -> bool:
    """Whether a file's first bytes are those of a NIfTI file, plain or compressed.

    >>> is_nifti(struct.pack("<i", 348) + bytes(344)), is_nifti(b"hello")
    (True, False)
    """
    if start[:2] == b"\x1f\x8b":
        try:
            start = zlib.decompressobj(31).decompress(start, 4)
        except zlib.error:
            return False
    return start[:4] in (struct.pack("<i", HEADER), struct.pack(">i", HEADER))


def read_nifti(path: str | Path) -> GridSignal:
    """The volume in a NIfTI-1 file (.nii or .nii.gz) of either byte order: axes x, y, z, and channels if it is 4-D.

    The stored numbers are kept; slope and intercept, which make measurements of them, are among the facts, as is the
    header, so that what is written back lies where the volume lay.
    """
    file = Path(path)
    try:
        with _opened(file) as handle:
            head = handle.read(_FIRST)
            plan = _plan(file, head)
            count = prod(plan.shape) * plan.dtype.itemsize
            _check_stored(file, plan.offset + count, packed=not isinstance(handle, BufferedReader))
            check_memory(file, 3 * count)  # as read, in the order of the axes, and a share of float numbers
            handle.read(plan.offset - _FIRST)
            raw = handle.read(count)
            handle.read(1)  # at the end a compressed file is compared with its checksum
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"cannot read {file} as NIfTI: {reason}; it is damaged or cut short, get it again") from error
    if len(raw) < count:
        got = f"{len(raw):,} of {count:,} bytes of its samples are there"
        raise UserError(f"cannot read {file} as NIfTI: {got}; it is cut short, get it again")
    stored = np.frombuffer(raw, plan.dtype).reshape(plan.shape, order="F")
    data = np.ascontiguousarray(stored, plan.dtype.newbyteorder("="))
    check_finite(file, data)
    facts = {"slope": plan.slope, "inter": plan.inter, "nifti": head[:HEADER].hex()}
    return GridSignal(data, kind="volume", facts=facts)


def write_nifti(path: str | Path, data: Array, header: bytes | None = None, steps: Steps = (1.0, 1.0, 1.0)) -> None:
    """Write numbers (x, y, z, c) as they are to a .nii or .nii.gz file.

    header: of the volume they come from, whose place in space, units, slope and intercept are kept. steps: distances of
    the samples along each axis in those of that volume.
    """
    file = Path(path)
    head = _renewed(header, data, steps)
    with replacing(file) as temporary, temporary.open("wb") as raw:
        packed: IO[bytes] = raw
        if file.suffix.lower() == ".gz":  # without a time, the same numbers give the same bytes
            packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6)  # type: ignore[assignment]
        packed.write(head)
        for channel in range(data.shape[-1]):
            for plane in range(data.shape[2]):
                packed.write(np.ascontiguousarray(data[:, :, plane, channel].T).tobytes())
        if packed is not raw:
            packed.close()


def _check_stored(file: Path, needed: int, packed: bool) -> None:
    """Refuse, before it is read, more than a file of that size can hold."""
    most = file.stat().st_size * (_DEFLATE if packed else 1)
    if needed > most:
        got = f"{file.stat().st_size:,} bytes are there for {needed:,}"
        raise UserError(f"cannot read {file} as NIfTI: {got}; it is cut short, get it again")


def _opened(file: Path) -> IO[bytes]:
    with file.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    return gzip.open(file, "rb") if packed else file.open("rb")  # type: ignore[return-value]


def _plan(file: Path, head: bytes) -> Plan:
    """Read the header, whose byte order its own first number tells."""
    if len(head) < _FIRST:
        raise UserError(f"cannot read {file} as NIfTI: its header is cut short; get it again")
    order = "<" if head[:4] == struct.pack("<i", HEADER) else ">"
    if head[344:347] != b"n+1":
        raise UserError(
            f"expected a NIfTI-1 file with its samples in {file}, got half of a pair; join header and image"
        )
    dims = struct.unpack(f"{order}8h", head[40:56])
    code = struct.unpack(f"{order}h", head[70:72])[0]
    offset, slope, inter = struct.unpack(f"{order}3f", head[108:120])
    if code not in _CODES:
        raise UserError(f"expected integers up to 32 bits or floats in {file}, got NIfTI type {code}; convert it")
    if not 1 <= dims[0] <= 7 or min(dims[1 : 1 + max(1, min(dims[0], 7))]) < 1:
        raise UserError(f"expected sizes of at least 1 in {file}, got {list(dims)}; it is damaged, get it again")
    sizes = [*dims[1 : 1 + dims[0]], 1, 1, 1][: max(3, dims[0])]
    if prod(sizes[4:]) > 1 or prod(sizes[3:4]) > _CHANNELS:
        size = "x".join(map(str, sizes))
        raise UserError(f"expected a volume of up to {_CHANNELS} channels in {file}, got {size}; cut a part of it out")
    if min(sizes[:3]) < 2:
        size = "x".join(map(str, sizes[:3]))
        raise UserError(f"expected at least 2 samples along every axis in {file}, got {size}; give a volume")
    if not (_FIRST <= offset < 1 << 24 and np.isfinite(slope) and np.isfinite(inter)):
        raise UserError(
            f"expected samples after the header of {file}, got offset {offset}; it is damaged, get it again"
        )
    shape = (sizes[0], sizes[1], sizes[2], prod(sizes[3:4]))
    scale = (float(slope), float(inter)) if slope else (1.0, 0.0)
    return Plan(shape, np.dtype(f"{order}{_CODES[code]}"), int(offset), *scale)


def _renewed(header: bytes | None, data: Array, steps: Steps) -> bytes:
    """A header in this machine's order of bytes for other sizes and numbers, otherwise as the given one."""
    old = header if header is not None and len(header) == HEADER else None
    order = "<" if old is None or old[:4] == struct.pack("<i", HEADER) else ">"
    head = bytearray(_swapped(old, order) if old is not None else HEADER)
    channels = data.shape[-1]
    struct.pack_into("<i", head, 0, HEADER)
    struct.pack_into("<8h", head, 40, 3 if channels == 1 else 4, *data.shape[:3], channels, 1, 1, 1)
    struct.pack_into("<2h", head, 70, TYPES[data.dtype.newbyteorder("=")], 8 * data.dtype.itemsize)
    widths = struct.unpack_from("<8f", head, 76) if old is not None else (1.0,) * 8
    struct.pack_into(
        "<8f", head, 76, widths[0], *(w * step for w, step in zip(widths[1:4], steps, strict=True)), *widths[4:]
    )
    struct.pack_into("<f", head, 108, float(_FIRST))
    if old is None:
        struct.pack_into("<2f", head, 112, 1.0, 0.0)
    for row in (280, 296, 312):  # the affine's first three columns belong to x, y, z
        values = struct.unpack_from("<4f", head, row)
        struct.pack_into("<4f", head, row, *(v * step for v, step in zip(values[:3], steps, strict=True)), values[3])
    head[344:348] = b"n+1\0"
    return bytes(head) + bytes(_FIRST - HEADER)


# where a header holds numbers of several bytes: (offset, format)
_FIELDS = ((0, "i"), (32, "ih"), (40, "8h"), (56, "3f4h"), (76, "11fh"), (124, "4f2i"), (252, "2h6f12f"))


def _swapped(header: bytes, order: str) -> bytes:
    """The header with its numbers in little-endian order."""
    head = bytearray(header)
    for offset, form in _FIELDS:
        struct.pack_into(f"<{form}", head, offset, *struct.unpack_from(f"{order}{form}", header, offset))
    return bytes(head)
