"""Large PNG by bands: the same pixels as Pillow's, whatever the colour type, filters and cuts; bounded memory."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from alfilter.errors import UserError
from alfilter.signals import png16, read_image
from alfilter.signals.png_bands import pixel_bands, read_layout, unfiltered

LARGE, BAND = "alfilter.signals.pixels.LARGE", "alfilter.signals.png_bands._BAND"
COLOURS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every picture counts as large, and bands are a few rows."""
    monkeypatch.setattr(LARGE, 3)
    monkeypatch.setattr(BAND, 700)
    monkeypatch.setattr("alfilter.signals.pixels.MAX_PIXELS", 3)  # nothing is decoded as a whole


def noise(channels: int, dtype: Any = np.uint8) -> Any:
    return np.random.default_rng(channels).integers(0, np.iinfo(dtype).max, (37, 53, channels), dtype)


def smooth(channels: int) -> Any:
    """A picture that Pillow's encoder filters in several ways."""
    y, x = np.mgrid[0:37, 0:53]
    return np.stack([(y * (k + 2) + x * 3 + (x * y) // 17) % 256 for k in range(channels)], -1).astype(np.uint8)


@pytest.mark.parametrize("mode", COLOURS)
@pytest.mark.parametrize("make", [noise, smooth])
@pytest.mark.usefixtures("large")
def test_eight_bits(mode: str, make: Any, tmp_path: Path) -> None:
    pixels = make(COLOURS[mode])
    Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode).save(tmp_path / "a.png")
    signal = read_image(tmp_path / "a.png")
    assert isinstance(signal.data, np.memmap)
    assert np.array_equal(signal.data, pixels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.usefixtures("large")
def test_sixteen_bits(channels: int, tmp_path: Path) -> None:
    pixels = noise(channels, dtype=np.uint16)
    (tmp_path / "a.png").write_bytes(png16.encode(pixels))
    signal = read_image(tmp_path / "a.png")
    assert signal.data.dtype == np.uint16
    assert np.array_equal(signal.data, pixels)


def special(name: str) -> bytes:
    """PNG files whose stored bytes are not their pixels."""
    gray = Image.fromarray(noise(1)[..., 0])
    made = {
        "one bit": lambda: (gray.convert("1"), {}),
        "palette": lambda: (Image.fromarray(noise(3)).quantize(200), {}),
        "palette of 2 bits": lambda: (Image.fromarray(noise(3)).quantize(4), {"bits": 2}),
        "clear palette": lambda: (Image.fromarray(noise(3)).quantize(9), {"transparency": bytes([0, 128, 255])}),
        "clear gray": lambda: (gray, {"transparency": 7}),
        "clear colour": lambda: (Image.fromarray(noise(3) // 128), {"transparency": (0, 1, 0)}),
    }
    image, settings = made[name]()
    stream = io.BytesIO()
    image.save(stream, "PNG", **settings)
    return stream.getvalue()


@pytest.mark.parametrize(
    "name", ["one bit", "palette", "palette of 2 bits", "clear palette", "clear gray", "clear colour"]
)
def test_other_colours_are_those_of_a_small_picture(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "a.png").write_bytes(special(name))
    whole = read_image(tmp_path / "a.png")
    request.getfixturevalue("large")
    banded = read_image(tmp_path / "a.png")
    assert isinstance(banded.data, np.memmap)
    assert banded.mode == whole.mode
    assert np.array_equal(banded.data, whole.data)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_pictures(orientation: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    tags = Image.Exif()
    tags[274] = orientation
    Image.fromarray(noise(3)).save(tmp_path / "a.png", exif=tags)
    whole = read_image(tmp_path / "a.png")
    request.getfixturevalue("large")
    assert np.array_equal(read_image(tmp_path / "a.png").data, whole.data)


def slowly(lines: Any, size: int, above: list[int]) -> list[list[int]]:
    """The filters undone byte by byte, as the PNG standard writes them."""
    rows = []
    for kind, *line in lines.tolist():
        for i in range(len(line)):
            a, b, c = (line[i - size], above[i], above[i - size]) if i >= size else (0, above[i], 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
        rows.append(line)
        above = line
    return rows


@given(st.data(), st.sampled_from([1, 2, 3, 4, 6, 8]), st.integers(1, 5), st.integers(1, 6))
def test_filters_are_those_of_the_standard(data: st.DataObject, size: int, width: int, rows: int) -> None:
    lines = data.draw(hnp.arrays(np.uint8, (rows, 1 + size * width)))
    lines[:, 0] %= 5
    above = data.draw(hnp.arrays(np.uint8, size * width))
    assert unfiltered(lines, size, above).tolist() == slowly(lines, size, above.tolist())


def png(body: bytes, width: int = 40, height: int = 40, parts: int = 3, colour: int = 0) -> bytes:
    first = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    cut = [body[k * len(body) // parts : (k + 1) * len(body) // parts] for k in range(parts)]
    middle = b"".join(png16.chunk(b"IDAT", part) for part in cut)
    return png16.SIGNATURE + png16.chunk(b"IHDR", first) + middle + png16.chunk(b"IEND", b"")


ROWS = bytes(41 * 40)
DAMAGED = {
    "cut short": (png(zlib.compress(ROWS))[:-30], "the PNG is cut short"),
    "too few rows": (png(zlib.compress(ROWS[:-50])), "the PNG is cut short"),
    "unknown filter": (png(zlib.compress(bytes([9]) + ROWS[1:])), "an unknown row filter"),
    "no zlib": (png(b"no zlib stream at all, whatever it is"), "header"),
    "checksum": (png(zlib.compress(ROWS)).replace(b"IEND", b"IEND")[:-40] + bytes(40), "checksum|cut short"),
    "colour type": (png(zlib.compress(ROWS), colour=5), "a known colour type, got 5"),
    "too much": (png(zlib.compress(ROWS), width=100_000, height=100_000), "bytes cannot hold 10,000,100,000 bytes"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.usefixtures("large")
def test_damage_is_one_line(name: str, tmp_path: Path) -> None:
    data, said = DAMAGED[name]
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(UserError, match=rf"cannot read .*a\.png as PNG: .*({said}).*; it is damaged"):
        read_image(tmp_path / "a.png")


def test_in_memory_is_one_band(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4200, 4200, 3), np.uint8)).save(tmp_path / "a.png")
    tracemalloc.start()
    with (tmp_path / "a.png").open("rb") as handle:
        count = sum(len(band) for band in pixel_bands(handle, read_layout(handle), lambda data: np.empty(0)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4200
    assert peak < 48 << 20  # the picture has 53 MB, and twice that with what Pillow keeps
