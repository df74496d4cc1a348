"""16-bit PNG: every filter, interlacing, transparency and every kind of damage."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from PIL import Image

from alfilter.signals import png16

Pixels = NDArray[np.uint16]
TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
small = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))
pixels_of = hnp.arrays(np.uint16, small, elements=st.integers(0, 65535))


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def scan(pixels: Pixels, filters: list[int]) -> bytes:
    """Rows filtered byte by byte as the PNG standard writes it: the slow twin of the encoder."""
    size, out = 2 * pixels.shape[2], bytearray()
    above = [0] * (size * pixels.shape[1])
    for r, row in enumerate(pixels):
        line, kind = list(row.astype(">u2").tobytes()), filters[r % len(filters)]
        out.append(kind)
        for i, byte in enumerate(line):
            a, b, c = (line[i - size], above[i], above[i - size]) if i >= size else (0, above[i], 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((byte - (0, a, b, (a + b) // 2, paeth)[kind]) % 256)
        above = line
    return bytes(out)


def make(pixels: Pixels, filters: list[int], interlaced: bool = False, extra: bytes = b"") -> bytes:
    height, width, channels = pixels.shape
    steps = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    parts = [pixels[y::dy, x::dx] for x, y, dx, dy in steps] if interlaced else [pixels]
    body = zlib.compress(b"".join(scan(part, filters) for part in parts if part.size))
    first = struct.pack(">IIBBBBB", width, height, 16, TYPES[channels], 0, 0, int(interlaced))
    middle = chunk(b"IDAT", body[: len(body) // 2]) + chunk(b"IDAT", body[len(body) // 2 :])
    return png16.SIGNATURE + chunk(b"IHDR", first) + extra + middle + chunk(b"IEND", b"")


@given(pixels_of, st.lists(st.integers(0, 4), min_size=1, max_size=5), st.booleans())
def test_decodes_every_filter_and_interlacing(pixels: Pixels, filters: list[int], interlaced: bool) -> None:
    decoded, exif = png16.decode(make(pixels, filters, interlaced))
    assert np.array_equal(decoded, pixels)
    assert decoded.dtype == np.uint16
    assert exif == b""


@given(pixels_of)
def test_encode_then_decode_is_the_identity(pixels: Pixels) -> None:
    assert np.array_equal(png16.decode(png16.encode(pixels))[0], pixels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("interlaced", [False, True])
def test_pillow_sees_the_same_upper_bytes(channels: int, interlaced: bool) -> None:
    pixels = np.random.default_rng(channels).integers(0, 65536, (300, 21, channels)).astype(np.uint16)
    data = make(pixels, [0, 1, 2, 3, 4], True) if interlaced else png16.encode(pixels)
    with Image.open(io.BytesIO(data)) as image:
        seen = np.asarray(image).reshape(300, 21, -1)
    if channels == 1:
        assert np.array_equal(seen, pixels)
    elif channels == 2:  # Pillow shows gray with alpha as RGBA or LA
        assert np.array_equal(seen[..., [0, -1]], pixels >> 8)
    else:
        assert np.array_equal(seen, pixels >> 8)


def test_smooth_pixels_are_packed_well() -> None:
    ramp = np.add.outer(np.arange(300) * 97, np.arange(200) * 31).astype(np.uint16)[..., None]
    assert len(png16.encode(ramp)) < ramp.nbytes / 20


@pytest.mark.parametrize("channels", [1, 3])
def test_a_transparent_colour_becomes_alpha(channels: int) -> None:
    pixels = np.full((2, 3, channels), 7, np.uint16)
    pixels[1, 2] = 40000
    pixels[0, 0, -1] = 40000
    data = make(pixels, [0], extra=chunk(b"tRNS", struct.pack(">H", 40000) * channels))
    decoded, _ = png16.decode(data)
    assert np.array_equal(decoded[..., :-1], pixels)
    clear = [[0, 65535, 65535], [65535, 65535, 0]] if channels == 1 else [[65535] * 3, [65535, 65535, 0]]
    assert decoded[..., -1].tolist() == clear


def damaged(kind: str) -> bytes:
    good = make(np.arange(24, dtype=np.uint16).reshape(2, 4, 3), [0])
    first = good[8:33]
    if kind == "cut":
        return good[:-20]
    if kind == "no end":
        return good[:-12]
    if kind == "few rows":
        return png16.SIGNATURE + first + chunk(b"IDAT", zlib.compress(b"\0" * 25)) + chunk(b"IEND", b"")
    if kind == "flipped":
        return good[:50] + bytes([good[50] ^ 1]) + good[51:]
    return png16.SIGNATURE + first + chunk(b"IDAT", zlib.compress(b"\x09" * 50)) + chunk(b"IEND", b"")  # "filter"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("cut", "cut short"), ("no end", "cut short"), ("few rows", "cut short")),
        *(("flipped", "checksum of PNG chunk 'IDAT' is wrong"), ("filter", "unknown row filter")),
    ],
)
def test_damage_is_named(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        png16.decode(damaged(kind))


def test_a_packed_bomb_is_not_unpacked() -> None:
    first = struct.pack(">IIBBBBB", 2, 2, 16, 0, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"\0" * 10_000_000))
    decoded, _ = png16.decode(png16.SIGNATURE + chunk(b"IHDR", first) + body + chunk(b"IEND", b""))
    assert decoded.tolist() == [[[0], [0]], [[0], [0]]]


@given(st.data())
def test_any_flipped_byte_is_noticed_or_harmless(data: st.DataObject) -> None:
    pixels: NDArray[Any] = np.arange(12, dtype=np.uint16).reshape(2, 2, 3)
    good = bytearray(png16.encode(pixels))
    good[data.draw(st.integers(8, len(good) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        decoded, _ = png16.decode(bytes(good))
    except ValueError:
        return
    assert np.array_equal(decoded, pixels)


def test_header() -> None:
    assert png16.header(png16.encode(np.zeros((3, 5, 4), np.uint16))[:29]) == (3, 5, 16)
    with pytest.raises(ValueError, match="header is damaged"):
        png16.header(png16.SIGNATURE)
