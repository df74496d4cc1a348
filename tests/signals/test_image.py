"""Reading and writing images: every format, mode and depth, and every way a file can be wrong."""

from __future__ import annotations

import os
import struct
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageOps
from tests.support.data import shared_data

from alfilter.errors import UserError
from alfilter.signals import pixels as pixels_module
from alfilter.signals import png16, read_image, write_image
from alfilter.signals.image import quantise

Array = NDArray[Any]
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
LOSSLESS = [(".png", 8), (".png", 16), (".tif", 8), (".tiff", 16), (".tif", 32), (".webp", 8), (".bmp", 8)]


def pixels(*shape: int, dtype: str = "uint8", seed: int = 0) -> Array:
    top = 2.0 if dtype.startswith("float") else np.iinfo(dtype).max + 1
    return (np.random.default_rng(seed).random(shape) * top).astype(dtype)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(LOSSLESS),
    st.integers(1, 4),
    st.integers(2, 20),
    st.integers(2, 20),
    st.integers(0, 9),
    st.booleans(),
)
def test_lossless_round_trips(form: tuple[str, int], c: int, h: int, w: int, seed: int, single: bool) -> None:
    suffix, bits = form
    if suffix == ".bmp" and c in (2, 4):
        return
    values = np.random.default_rng(seed).random((h, w, c)).astype("float32" if single else "float64")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"image{suffix}"
        write_image(file, values, bits)
        signal = read_image(file)
    expected = values.astype("float32") if bits == 32 else np.floor(values.astype("float64") * (2.0**bits - 1) + 0.5)
    if suffix == ".webp" and c < 3:  # WebP has no gray
        expected = expected[..., [0, 0, 0, 1][: c + 2]]
    assert (signal.shape, signal.bits, signal.mode) == ((h, w), bits, MODES[expected.shape[-1]])
    assert np.array_equal(signal.data, expected)


@pytest.mark.parametrize("c", [1, 3])
def test_jpeg_is_close(tmp_path: Path, c: int) -> None:
    ramp = np.linspace(0, 1, 64)[:, None, None] * np.linspace(0.2, 1, 48)[:, None] * np.linspace(1, 0.5, c)
    write_image(tmp_path / "a.jpg", ramp)
    signal = read_image(tmp_path / "a.jpg")
    assert signal.mode == MODES[c]
    assert np.abs(signal.values().numpy().reshape(ramp.shape) - ramp).max() < 0.03


def test_a_signal_survives_being_written_and_read(tmp_path: Path) -> None:
    Image.fromarray(pixels(9, 7, 3)).save(tmp_path / "a.png")
    first = read_image(tmp_path / "a.png")
    write_image(tmp_path / "b.png", first.values().numpy().reshape(9, 7, 3))
    assert np.array_equal(read_image(tmp_path / "b.png").data, first.data)


def test_quantise_clips_and_rounds_to_the_nearest() -> None:
    values = np.array([-0.1, 0.0, 0.499 / 255, 0.501 / 255, 254.501 / 255, 1.0, 7.0, np.inf]).reshape(1, -1, 1)
    assert quantise(values, 8).flatten().tolist() == [0, 0, 0, 1, 255, 255, 255, 255]
    assert quantise(np.full((1, 1, 1), 1 / 65535, np.float32), 16).item() == 1


ABLE = {
    "PNG": ("1", "L", "LA", "RGB", "RGBA", "P"),
    "TIFF": ("1", "L", "LA", "RGB", "RGBA", "P", "CMYK"),
    "JPEG": ("L", "RGB", "CMYK"),
    "BMP": ("1", "L", "RGB", "P"),
    "WEBP": ("RGB", "RGBA"),
}


@pytest.mark.parametrize(("form", "mode"), [(form, mode) for form, modes in ABLE.items() for mode in modes])
def test_every_mode_pillow_writes(tmp_path: Path, mode: str, form: str) -> None:
    image = Image.fromarray(pixels(12, 10, 4)).convert("RGBA" if mode in ("LA", "RGBA") else "RGB").convert(mode)
    image.save(tmp_path / "image", format=form, **({"lossless": True} if form == "WEBP" else {}))
    with Image.open(tmp_path / "image") as again:
        wanted = {"1": "L", "P": "RGB", "CMYK": "RGB"}.get(mode, mode)
        expected = np.asarray(again.convert(wanted)).reshape(12, 10, -1)
    signal = read_image(tmp_path / "image")
    assert (signal.mode, signal.bits, signal.kind) == (wanted, 8, "image")
    assert np.array_equal(signal.data, expected)


@pytest.mark.parametrize(("mode", "wanted", "clear"), [("P", "RGBA", 0), ("L", "LA", 7), ("RGB", "RGBA", (1, 2, 3))])
def test_a_transparent_colour_becomes_alpha(tmp_path: Path, mode: str, wanted: str, clear: Any) -> None:
    image = Image.new(mode, (3, 2), clear)
    image.putpixel((1, 0), 9 if mode != "RGB" else (9, 9, 9))
    image.save(tmp_path / "a.png", transparency=clear)
    signal = read_image(tmp_path / "a.png")
    assert signal.mode == wanted
    assert signal.data[..., -1].tolist() == [[0, 255, 0], [0, 0, 0]]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["jpg", "png", "png16", "webp", "tif", "lzw"])
def test_exif_orientation_is_applied(tmp_path: Path, orientation: int, form: str) -> None:
    stored = pixels(4, 6, 3).repeat(8, 0).repeat(8, 1)
    exif = Image.Exif()
    exif[274] = orientation
    upright = Image.fromarray(stored)
    upright.getexif()[274] = orientation
    expected = np.asarray(ImageOps.exif_transpose(upright))
    file = tmp_path / f"image.{form}"
    if form == "png16":
        deep = png16.encode(stored.astype(np.uint16) * 257)
        block = exif.tobytes().removeprefix(b"Exif\0\0")
        extra = struct.pack(">I", len(block)) + b"eXIf" + block + struct.pack(">I", zlib.crc32(b"eXIf" + block))
        file.write_bytes(deep[:33] + extra + deep[33:])
        expected = expected.astype(np.uint16) * 257
    elif form == "tif":
        tifffile.imwrite(file, stored, photometric="rgb", extratags=[(274, "H", 1, orientation, True)])
    elif form == "lzw":
        Image.fromarray(stored).save(file, "TIFF", compression="tiff_lzw", exif=exif)
    else:
        Image.fromarray(stored).save(file, exif=exif, lossless=True, quality=100, subsampling=0)
    got = read_image(file).data
    assert got.shape == expected.shape
    assert np.abs(got.astype(int) - expected).max() <= (40 if form == "jpg" else 0)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32", "float64"])
@pytest.mark.parametrize("c", [1, 2, 3, 4])
@pytest.mark.parametrize("planar", ["contig", "separate"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_tiff_samples_and_planes(tmp_path: Path, dtype: str, c: int, planar: str, order: str) -> None:
    data = pixels(5, 7, c, dtype=dtype)
    stored = data[..., 0] if c == 1 else (np.moveaxis(data, -1, 0) if planar == "separate" else data)
    layout: dict[str, Any] = {"photometric": "minisblack" if c < 3 else "rgb", "byteorder": order}
    layout |= {"planarconfig": None if c == 1 else planar, "extrasamples": ["unassalpha"] if c in (2, 4) else None}
    tifffile.imwrite(tmp_path / "a.tif", stored, **layout)
    signal = read_image(tmp_path / "a.tif")
    expected = data.astype("float32") if dtype.startswith("float") else data
    assert (signal.mode, signal.data.dtype) == (MODES[c], expected.dtype)
    assert np.array_equal(signal.data, expected)


@pytest.mark.parametrize("compression", ["tiff_lzw", "packbits", "tiff_adobe_deflate", "raw"])
@pytest.mark.parametrize("predictor", [1, 2])
def test_tiff_codecs(tmp_path: Path, compression: str, predictor: int) -> None:
    data = pixels(9, 8, 3)
    info = {317: predictor} if compression in ("tiff_lzw", "tiff_adobe_deflate") else {}
    Image.fromarray(data).save(tmp_path / "a.tif", compression=compression, tiffinfo=info)
    assert np.array_equal(read_image(tmp_path / "a.tif").data, data)


def lzw_tiff(data: Array, photometric: int) -> bytes:
    """A TIFF of uint8 or uint16 pixels (H, W, c) in the simplest LZW: literals and clear codes."""
    h, w, c = data.shape
    raw, depth = data.tobytes(), 8 * data.dtype.itemsize
    codes = [code for i in range(0, len(raw), 200) for code in (256, *raw[i : i + 200])]
    bits = "".join(f"{code:09b}" for code in [*codes, 257])
    body = int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    start = 8 + 2 + 12 * 9 + 4
    tags = [(256, 4, 1, w), (257, 4, 1, h), (258, 3, c, start if c > 2 else depth), (259, 3, 1, 5)]
    tags += [(262, 3, 1, photometric), (273, 4, 1, start + 8), (277, 3, 1, c), (278, 4, 1, h), (279, 4, 1, len(body))]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    front = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0" * 4
    return front + struct.pack("<4H", *[depth] * 4) + body


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("photometric", [0, 1])
def test_tiff_that_needs_another_codec_keeps_deep_gray(tmp_path: Path, dtype: str, photometric: int) -> None:
    data = pixels(9, 8, 1, dtype=dtype)
    (tmp_path / "a.tif").write_bytes(lzw_tiff(data, photometric))
    signal = read_image(tmp_path / "a.tif")
    assert (signal.data.dtype, signal.mode) == (data.dtype, "L")
    assert np.array_equal(signal.data, data if photometric else np.iinfo(dtype).max - data)


def test_tiff_that_needs_another_codec_says_that_deep_colour_was_lost(tmp_path: Path) -> None:
    data = pixels(9, 8, 3, dtype="uint16")
    (tmp_path / "a.tif").write_bytes(lzw_tiff(data, 2))
    try:
        import imagecodecs  # type: ignore[import-not-found] # noqa: F401
    except ImportError:
        data = (data >> 8).astype(np.uint8)
    signal = read_image(tmp_path / "a.tif")
    assert signal.bits == 8 * data.dtype.itemsize
    assert np.array_equal(signal.data, data)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_tiff_where_zero_is_white(tmp_path: Path, dtype: str) -> None:
    data = pixels(5, 6, dtype=dtype)
    tifffile.imwrite(tmp_path / "a.tif", data, photometric="miniswhite")
    assert np.array_equal(read_image(tmp_path / "a.tif").data[..., 0], np.iinfo(dtype).max - data)


def test_of_several_pages_the_first_is_read(tmp_path: Path) -> None:
    data = pixels(3, 5, 6)
    tifffile.imwrite(tmp_path / "a.tif", data, photometric="minisblack")
    assert np.array_equal(read_image(tmp_path / "a.tif").data[..., 0], data[0])


def test_any_aspect_ratio(tmp_path: Path) -> None:
    data = pixels(2, 3000, 3)
    Image.fromarray(data).save(tmp_path / "a.png")
    assert read_image(tmp_path / "a.png").shape == (2, 3000)


def test_real_photographs(tmp_path: Path) -> None:
    file = shared_data("kodak", "kodim01.png")
    signal = read_image(file)
    with Image.open(file) as image:
        assert np.array_equal(signal.data, np.asarray(image))
    assert signal.shape in {(512, 768), (768, 512)}


# --- what is wrong with a file, in one line ---


def refused(file: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_image(file)
    message = str(caught.value)
    assert "\n" not in message
    assert file.name in message
    return message


def test_no_such_file_folder_empty_and_text(tmp_path: Path) -> None:
    assert "no such file; check the path" in refused(tmp_path / "missing.png")
    assert "it is a folder; give a file inside it" in refused(tmp_path)
    (tmp_path / "empty.png").touch()
    assert "the file is empty; get it again" in refused(tmp_path / "empty.png")
    (tmp_path / "text.png").write_text("BMW\nnot a picture at all, only a text of some length, and then more")
    assert "expected PNG, JPEG, WebP, TIFF or BMP content" in refused(tmp_path / "text.png")
    assert "got text; convert it" in refused(tmp_path / "text.png")


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.png"
    Image.new("L", (3, 3)).save(file)
    if os.geteuid() == 0:  # root may read everything
        monkeypatch.setattr(Path, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    else:
        file.chmod(0)
    assert "permission denied; make it readable" in refused(file)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "tif", "bmp"])
def test_one_pixel_wide_or_high(tmp_path: Path, shape: tuple[int, int], suffix: str) -> None:
    Image.new("RGB", shape).save(tmp_path / f"a.{suffix}")
    assert f"expected at least 2x2 pixels in {tmp_path}/a.{suffix}, got {shape[0]}x{shape[1]}" in refused(
        tmp_path / f"a.{suffix}"
    )


@pytest.mark.parametrize(
    ("suffix", "bits"), [("png", 8), ("png", 16), ("jpg", 8), ("webp", 8), ("tif", 16), ("bmp", 8)]
)
@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
def test_truncated(tmp_path: Path, suffix: str, bits: int, part: float) -> None:
    file = tmp_path / f"a.{suffix}"
    write_image(file, np.random.default_rng(0).random((40, 50, 3)), bits)
    file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
    assert "it is damaged or cut short, get it again" in refused(file)


@pytest.mark.parametrize("compression", ["tiff_lzw", "raw"])
def test_truncated_tiff_whose_directory_comes_first(tmp_path: Path, compression: str) -> None:
    Image.fromarray(pixels(40, 50, 3)).save(tmp_path / "a.tif", compression=compression)
    whole = (tmp_path / "a.tif").read_bytes()
    for keep in (9, 100, len(whole) // 2, len(whole) - 200):
        (tmp_path / "b.tif").write_bytes(whole[:keep])
        assert "it is damaged or cut short" in refused(tmp_path / "b.tif")


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["png", "jpg", "webp", "tif", "bmp"]), st.data())
def test_damaged_bytes_never_end_in_another_error(suffix: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"a.{suffix}"
        write_image(file, np.random.default_rng(0).random((6, 7, 3)))
        content = bytearray(file.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        file.write_bytes(content)
        message = ""
        try:
            read_image(file)
        except UserError as error:
            message = str(error)
        assert "\n" not in message


def test_not_finite(tmp_path: Path) -> None:
    data = pixels(5, 6, 3, dtype="float32")
    data[2, 3, 1], data[4] = np.nan, np.inf
    tifffile.imwrite(tmp_path / "a.tif", data, photometric="rgb")
    assert "got 19 NaN or infinite, the first at row 2, column 3; correct them" in refused(tmp_path / "a.tif")
    tifffile.imwrite(tmp_path / "b.tif", np.full((3, 3), 1e300), photometric="minisblack")
    assert "got 9 NaN or infinite, the first at row 0, column 0" in refused(tmp_path / "b.tif")


@pytest.mark.parametrize(("dtype", "got"), [("int16", "16-bit int16"), ("uint32", "32-bit uint32")])
def test_other_tiff_samples(tmp_path: Path, dtype: str, got: str) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 4), dtype), photometric="minisblack")
    assert f"got {got}; convert it" in refused(tmp_path / "a.tif")


def test_many_channels(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", pixels(4, 4, 7), photometric="minisblack", planarconfig="contig")
    assert "1 to 4 channels" in refused(tmp_path / "a.tif")


def large(suffix: str) -> bytes:
    """A file that announces far too many pixels and holds none."""
    side = 20_000
    if suffix == "png":
        body = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        return png16.SIGNATURE + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body)) + b"\0" * 40
    if suffix == "bmp":
        return b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, side, side, 1, 24, 0, 0, 0, 0, 0, 0) + b"\0" * 40
    if suffix == "webp":
        lossless = b"\x2f" + (16382 | 16382 << 14).to_bytes(4, "little") + b"\0" * 13
        return b"RIFF" + struct.pack("<I", 30) + b"WEBPVP8L" + struct.pack("<I", 18) + lossless
    if suffix == "jpg":
        frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, side, side, 1) + b"\x01\x11\x00"
        return b"\xff\xd8\xff\xe0\x00\x10JFIF\0\1\1\0\0\1\0\1\0\0" + frame + b"\xff\xda\x00\x08\1\1\0\0\x3f\0"
    tags = [(256, side), (257, side), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, side), (279, 4)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags)) + entries + b"\0" * 4


@pytest.mark.parametrize("suffix", ["png", "bmp", "webp", "jpg", "tif"])
def test_too_large_is_refused_by_its_header(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.{suffix}"
    file.write_bytes(large(suffix))
    if suffix in ("tif", "png"):  # which may have any size, if its bytes are there
        assert "it is damaged or cut short" in refused(file)
        return
    size = "16383x16383" if suffix == "webp" else "20000x20000"
    assert f"expected at most 200 million pixels in {file}, got {size}; crop or shrink it" in refused(file)


def test_pillows_own_limit_is_left_alone_and_not_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 400)  # 600 pixels would make Image.open warn, which is an error here
    for suffix in ("png", "jpg", "bmp", "webp", "tif"):
        Image.fromarray(pixels(20, 30, 3)).save(tmp_path / f"a.{suffix}")
        assert read_image(tmp_path / f"a.{suffix}").shape == (20, 30)
    Image.fromarray(pixels(20, 30, 3)).save(tmp_path / "b.tif", compression="tiff_lzw")
    assert read_image(tmp_path / "b.tif").shape == (20, 30)
    assert Image.MAX_IMAGE_PIXELS == 400


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0"}])
def test_webp_header_of_every_kind(options: dict[str, Any], tmp_path: Path) -> None:
    Image.fromarray(pixels(13, 37, 3)).save(tmp_path / "a.webp", **options)
    assert pixels_module._webp_size((tmp_path / "a.webp").read_bytes()[:64]) == (13, 37)
    assert read_image(tmp_path / "a.webp").shape == (13, 37)


# --- what cannot be written ---


@pytest.mark.parametrize(
    ("name", "c", "bits", "text"),
    [
        ("a.gif", 3, 8, "ends in .png, .jpg, .jpeg, .webp, .tif, .tiff, .bmp, got 'a.gif'; rename the output"),
        ("a", 3, 8, "got 'a'; rename"),
        ("a.jpg", 4, 8, "JPEG holds 1 or 3 channels, got 4"),
        ("a.bmp", 2, 8, "BMP holds 1 or 3 channels, got 2"),
        ("a.png", 5, 8, "PNG holds 1 or 2 or 3 or 4 channels, got 5"),
        ("a.jpg", 3, 16, "JPEG holds 8 bits per channel, got 16"),
        ("a.png", 3, 32, "PNG holds 8 or 16 bits per channel, got 32"),
        ("a.tif", 3, 12, "TIFF holds 8 or 16 or 32 bits per channel, got 12"),
        ("none/a.png", 3, 8, "cannot write"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path: Path, name: str, c: int, bits: int, text: str) -> None:
    with pytest.raises(UserError) as caught:
        write_image(tmp_path / name, np.zeros((4, 5, c)), bits)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_values_that_are_no_image(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="WebP holds at most 16383 pixels per side, got 16384x2"):
        write_image(tmp_path / "a.webp", np.zeros((2, 16384, 1), np.float32))
    with pytest.raises(UserError, match="got 1 NaN; the fit has diverged"):
        write_image(tmp_path / "a.png", np.array([[[np.nan], [0.0]]]))
    with pytest.raises(UserError, match=r"expected float values \(H, W, c\)"):
        write_image(tmp_path / "a.png", np.zeros((3, 3)))


def test_suffix_case_and_replacement(tmp_path: Path) -> None:
    write_image(tmp_path / "A.PNG", np.zeros((3, 3, 1)))
    write_image(tmp_path / "A.PNG", np.ones((3, 4, 1)))
    assert read_image(tmp_path / "A.PNG").data.tolist() == [[[255]] * 4] * 3
    assert [file.name for file in tmp_path.iterdir()] == ["A.PNG"]


def test_a_tag_that_is_cut_short_makes_no_warning(tmp_path: Path) -> None:
    file = tmp_path / "a.tif"
    tifffile.imwrite(file, pixels(12, 10, 3), photometric="rgb", metadata=None, software="a program")
    data = bytearray(file.read_bytes())
    with tifffile.TiffFile(file) as tiff:
        struct.pack_into("<I", data, tiff.pages[0].tags["Software"].offset + 4, 1 << 20)  # how many letters it has
    file.write_bytes(data)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert read_image(file).shape == (12, 10)
    assert said == []
