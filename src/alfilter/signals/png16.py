"""PNG with 16 bits per channel, read and written without loss; Pillow keeps only the upper 8 bits of colour."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # colour type → channels
_TYPES = {channels: colour for colour, channels in _CHANNELS.items()}
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # channels → what Pillow calls them
# Adam7: the first column and row of each pass, and its steps
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))

Bytes = NDArray[np.uint8]
Pixels = NDArray[np.uint16]


def header(start: bytes) -> tuple[int, int, int]:
    """(height, width, bits) from the first 29 bytes of a PNG."""
    if len(start) < 29 or start[:8] != SIGNATURE or start[12:16] != b"IHDR":
        raise ValueError("the PNG header is damaged")
    width, height, bits = struct.unpack(">IIB", start[16:25])
    return height, width, bits


def decode(data: bytes) -> tuple[Pixels, bytes]:
    """Pixels (H, W, c) of a 16-bit PNG, a transparent colour made an alpha channel, and its raw EXIF (b"" if none)."""
    chunks: dict[bytes, bytes] = {}
    packed: list[bytes] = []
    for name, body in _chunks(data):
        if name == b"IDAT":
            packed.append(body)
        else:
            chunks.setdefault(name, body)
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if bits != 16 or colour not in _CHANNELS or not width or not height:
        raise ValueError(f"expected 16 bits per channel, got {bits} with colour type {colour}")
    pixels = _pixels(b"".join(packed), height, width, _CHANNELS[colour], bool(interlaced))
    return _with_alpha(pixels, chunks.get(b"tRNS", b"")), chunks.get(b"eXIf", b"")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name, body) of every chunk up to the end mark, checksums verified."""
    position, view = len(SIGNATURE), memoryview(data)
    while True:
        if position + 12 > len(data):
            raise ValueError("the PNG is cut short")
        (length,) = struct.unpack_from(">I", data, position)
        name = data[position + 4 : position + 8]
        end = position + 8 + length
        if end + 4 > len(data):
            raise ValueError("the PNG is cut short")
        if zlib.crc32(view[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            raise ValueError(f"the checksum of PNG chunk {name.decode('latin1')!r} is wrong")
        if name == b"IEND":
            return
        yield name, data[position + 8 : end]
        position = end + 4


def _pixels(packed: bytes, height: int, width: int, channels: int, interlaced: bool) -> Pixels:
    """Unpack, undo the row filters and put interlaced passes in their places."""
    grids = [
        (x, y, dx, dy, -(-(height - y) // dy), -(-(width - x) // dx))
        for x, y, dx, dy in (_PASSES if interlaced else ((0, 0, 1, 1),))
        if x < width and y < height
    ]
    size = 2 * channels  # bytes per pixel
    expected = sum(rows * (1 + size * columns) for *_, rows, columns in grids)
    unpacked = zlib.decompressobj().decompress(packed, expected)  # the limit keeps a crafted file from filling memory
    if len(unpacked) < expected:
        raise ValueError("the PNG is cut short")
    pixels, position = np.empty((height, width, channels), np.uint16), 0
    for x, y, dx, dy, rows, columns in grids:
        count = rows * (1 + size * columns)
        lines = np.frombuffer(unpacked, np.uint8, count, position).reshape(rows, -1)
        pixels[y::dy, x::dx] = _unfiltered(lines, channels)
        position += count
    return pixels


def _unfiltered(lines: Bytes, channels: int) -> Pixels:
    """Rows without their filters: (rows, 1 + 2 c columns), the filter's number first → (rows, columns, c).

    A filter predicts a byte from the same byte of neighbouring pixels, so that the upper bytes of all channels and the
    lower ones are two pictures of 8 bits, which Pillow decodes.
    """
    from PIL import Image

    if (lines[:, 0] > 4).any():
        raise ValueError("the PNG names an unknown row filter")
    mode, size = MODES[channels], (lines.shape[1] // (2 * channels), len(lines))
    pixels = np.zeros((size[1], size[0], channels), np.uint16)
    for first, shift in ((1, 8), (2, 0)):
        rows = zlib.compress(np.concatenate([lines[:, :1], lines[:, first::2]], axis=1).tobytes(), 0)
        half = np.asarray(Image.frombytes(mode, size, rows, "zip", mode), np.uint16)
        pixels |= half.reshape(pixels.shape) << shift
    return pixels


def _with_alpha(pixels: Pixels, transparent: bytes) -> Pixels:
    """Add alpha 0 where a gray or RGB pixel has the transparent colour, if the file names one."""
    channels = pixels.shape[-1]
    if not transparent or channels not in (1, 3):
        return pixels
    colour = np.frombuffer(transparent, ">u2", channels)
    alpha = np.where((pixels == colour).all(-1, keepdims=True), 0, 65535).astype(np.uint16)
    return np.concatenate([pixels, alpha], axis=-1)


def encode(pixels: Pixels) -> bytes:
    """The PNG file of uint16 pixels (H, W, c), c = 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.

    >>> decode(encode(np.array([[[1], [65535]]], dtype=np.uint16)))[0].flatten().tolist()
    [1, 65535]
    """
    height, width, channels = pixels.shape
    packer, packed = zlib.compressobj(6), []
    before: Bytes = np.zeros((1, 2 * channels * width), np.uint8)
    for start in range(0, height, 256):  # bands keep the filter candidates small
        band = np.ascontiguousarray(pixels[start : start + 256], ">u2").view(np.uint8).reshape(-1, before.shape[1])
        packed.append(packer.compress(_filtered(band, before, 2 * channels).tobytes()))
        before = band[-1:]
    packed.append(packer.flush())
    first = struct.pack(">IIBBBBB", width, height, 16, _TYPES[channels], 0, 0, 0)
    parts = [chunk(b"IHDR", first), *(chunk(b"IDAT", part) for part in packed if part), chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(parts)


def chunk(name: bytes, body: bytes) -> bytes:
    """A chunk as it is stored: length, name, body, checksum."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _filtered(band: Bytes, before: Bytes, size: int) -> Bytes:
    """Each row with the filter whose residual, read as signed bytes, has the least absolute sum."""
    above = np.concatenate([before, band[:-1]])
    pad: NDArray[Any] = np.zeros((len(band), size), np.uint8)
    left = np.concatenate([pad, band[:, :-size]], axis=1)
    corner = np.concatenate([pad, above[:, :-size]], axis=1)
    l, u, c = (part.astype(np.int16) for part in (left, above, corner))
    a, b, d = np.abs(u - c), np.abs(l - c), np.abs(l + u - 2 * c)
    paeth = np.where((a <= b) & (a <= d), left, np.where(b <= d, above, corner))
    guesses = (np.zeros_like(band), left, above, ((l + u) // 2).astype(np.uint8), paeth)
    candidates = np.stack([band - guess for guess in guesses])  # (5, rows, bytes), modulo 256
    best = np.abs(candidates.view(np.int8).astype(np.int16)).sum(-1, dtype=np.int64).argmin(0)  # (rows,)
    chosen = candidates[best, np.arange(len(band))]
    return np.concatenate([best[:, None].astype(np.uint8), chosen], axis=1)
