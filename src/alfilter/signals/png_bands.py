"""Large PNG, unpacked some rows at a time: what Pillow decodes only as a whole."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from alfilter.signals import png16

_BAND = 1 << 22  # bytes of rows that are unpacked at once
_PIECE = 1 << 20  # bytes that are read at once
_RATIO = 1032  # the most bytes that one byte of a zlib stream becomes
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # colour type → numbers of a stored pixel

Array = NDArray[Any]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """What a PNG's chunks say. packed: where the parts of its zlib stream begin, and their lengths. kept: the other
    chunks that pixels depend on, by name.
    """

    width: int
    height: int
    bits: int
    colour: int
    packed: tuple[tuple[int, int], ...]
    kept: dict[bytes, bytes]

    @property
    def row_bytes(self) -> int:
        """Of a stored row, without the byte that names its filter."""
        return ceil(self.width * _CHANNELS[self.colour] * self.bits / 8)

    @property
    def is_plain(self) -> bool:
        """Whether the stored bytes are the pixels: whole bytes, no palette, no transparent colour."""
        return self.bits >= 8 and self.colour != 3 and b"tRNS" not in self.kept


def is_interlaced(start: bytes) -> bool:
    """Whether the first 29 bytes of a PNG announce Adam7, whose rows are complete only at the end."""
    return start[28] != 0


def read_layout(handle: BinaryIO) -> Layout:
    """The chunks of a PNG that is not interlaced; of the pixels' own, only where they are."""
    handle.seek(len(png16.SIGNATURE))
    kept: dict[bytes, bytes] = {}
    packed: list[tuple[int, int]] = []
    while True:
        opening = handle.read(8)
        if len(opening) < 8:
            raise ValueError("the PNG is cut short")
        length, name = int.from_bytes(opening[:4], "big"), opening[4:]
        if name == b"IEND":
            break
        if name in (b"IHDR", b"PLTE", b"tRNS", b"eXIf"):
            kept.setdefault(name, b"".join(_checked(handle, name, length)))
            continue
        if name == b"IDAT":
            packed.append((handle.tell(), length))
        handle.seek(length + 4, 1)
    width, height, bits, colour = struct.unpack_from(">IIBB", kept.pop(b"IHDR"))
    if colour not in _CHANNELS or bits not in (1, 2, 4, 8, 16):
        raise ValueError(f"expected a known colour type, got {colour} with {bits} bits")
    layout = Layout(width, height, bits, colour, tuple(packed), kept)
    stored, size = sum(length for _, length in packed), height * (1 + layout.row_bytes)
    if size > _RATIO * stored + (1 << 16):
        raise ValueError(f"{stored:,} bytes cannot hold {size:,} bytes of pixels")
    return layout


def _checked(handle: BinaryIO, name: bytes, length: int) -> Iterator[bytes]:
    """The body of the chunk whose name was just read, piece by piece; its checksum is verified at the end."""
    sum_so_far = zlib.crc32(name)
    while length > 0:
        piece = handle.read(min(length, _PIECE))
        if not piece:
            raise ValueError("the PNG is cut short")
        length -= len(piece)
        sum_so_far = zlib.crc32(piece, sum_so_far)
        yield piece
    if handle.read(4) != sum_so_far.to_bytes(4, "big"):
        raise ValueError(f"the checksum of PNG chunk {name.decode('latin1')!r} is wrong")


def bands(handle: BinaryIO, layout: Layout, rows: int) -> Iterator[Bytes]:
    """The unpacked rows (n ≤ rows, 1 + row_bytes), each with its filter's number first."""
    width, left = 1 + layout.row_bytes, layout.height
    unpacker, band = zlib.decompressobj(), bytearray()
    for start, length in layout.packed:
        handle.seek(start)
        for piece in _checked(handle, b"IDAT", length):
            while piece and left:
                band += unpacker.decompress(piece, min(rows, left) * width - len(band))
                piece = unpacker.unconsumed_tail
                if len(band) == min(rows, left) * width:
                    yield np.frombuffer(bytes(band), np.uint8).reshape(-1, width)
                    left -= min(rows, left)
                    band.clear()
    if left:
        raise ValueError("the PNG is cut short")


def unfiltered(lines: Bytes, pixel_bytes: int, above: Bytes) -> Bytes:
    """Rows (n, row_bytes) without their filters, of lines (n, 1 + row_bytes). above: the row (row_bytes,) before them.

    A filter predicts a byte from the same byte of neighbouring pixels; Pillow undoes that for 1 to 4 bytes per pixel,
    and pixels of 6 and 8 bytes are two pictures of 3 and 4.

    >>> unfiltered(np.array([[2, 5, 5], [1, 3, 3]], np.uint8), 1, np.array([1, 2], np.uint8)).tolist()
    [[6, 7], [3, 6]]
    """
    from PIL import Image

    if (lines[:, 0] > 4).any():
        raise ValueError("the PNG names an unknown row filter")
    if not lines[:, 0].any():
        return lines[:, 1:]
    parts = 2 if pixel_bytes > 4 else 1
    mode, size = png16.MODES[pixel_bytes // parts], (len(above) // pixel_bytes, 1 + len(lines))
    first = np.concatenate([np.zeros(1, np.uint8), above])  # filter 0: as it is
    whole = np.concatenate([first[None], lines])
    rows = np.empty((len(lines), len(above)), np.uint8)
    for part in range(parts):
        picked = np.concatenate([whole[:, :1], whole[:, 1 + part :: parts]], axis=1) if parts > 1 else whole
        image = Image.frombytes(mode, size, zlib.compress(picked.tobytes(), 0), "zip", mode)
        rows[:, part::parts] = np.asarray(image).reshape(len(whole), -1)[1:]
    return rows


def pixel_bands(handle: BinaryIO, layout: Layout, convert: Callable[[bytes], Array]) -> Iterator[Array]:
    """The pixels (n, W, c) of some rows after the other, as they are stored; in memory is one band of them.

    convert: the pixels of a small PNG file, given as bytes; for palettes, transparent colours and less than 8 bits.
    """
    pixel_bytes = max(1, layout.bits // 8) * _CHANNELS[layout.colour]
    above: Bytes = np.zeros(layout.row_bytes, np.uint8)
    for lines in bands(handle, layout, max(1, _BAND // (1 + layout.row_bytes))):
        rows = unfiltered(lines, pixel_bytes, above)
        above = rows[-1]
        if layout.is_plain:
            stored = np.ascontiguousarray(rows).view(">u2" if layout.bits == 16 else np.uint8)
            yield stored.reshape(len(rows), layout.width, -1)
        else:
            yield convert(small_file(rows, layout))


def small_file(rows: Bytes, layout: Layout) -> bytes:
    """A PNG of its own of some rows (n, row_bytes) without filters."""
    first = struct.pack(">IIBBBBB", layout.width, len(rows), layout.bits, layout.colour, 0, 0, 0)
    plain = np.concatenate([np.zeros((len(rows), 1), np.uint8), rows], axis=1)  # filter 0
    chunks = {b"IHDR": first, **layout.kept, b"IDAT": zlib.compress(plain.tobytes(), 0), b"IEND": b""}
    chunks.pop(b"eXIf", None)  # the whole is turned, not its bands
    return png16.SIGNATURE + b"".join(png16.chunk(name, body) for name, body in chunks.items())
