"""From an image file to its pixels (H, W, c) at their own depth, upright."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.signals import png16
from alfilter.signals.file_checks import check_memory
from alfilter.signals.mapped import LARGE, mapped_tiff
from alfilter.signals.png_bands import is_interlaced
from alfilter.signals.spooled import spooled_png, spooled_tiff, upright

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 200_000_000  # that are decoded in memory; what is mapped or unpacked piece by piece may be larger
_RATIO = {1: 1, 5: 4096, 8: 1032, 32946: 1032, 32773: 64}  # TIFF's compressions: the most bytes that one becomes
Array = NDArray[Any]


def sniff(start: bytes) -> str | None:
    """The image format that the first bytes of a file announce, or None.

    >>> sniff(b"\\xff\\xd8\\xff\\xe0"), sniff(b"hello")
    ('JPEG', None)
    """
    if start.startswith(png16.SIGNATURE):
        return "PNG"
    if start.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "WebP"
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF"
    # two letters alone would take a text for a bitmap: the header's own size must be a known one too
    if start[:2] == b"BM" and int.from_bytes(start[14:18], "little") in (12, 16, 40, 52, 56, 64, 108, 124):
        return "BMP"
    return None


def decode(file: Path, form: str, start: bytes) -> Array:
    """The pixels of a file of the sniffed format, refused by its header when the size is out of bounds."""
    if form == "PNG":
        height, width, bits = png16.header(start)
        if height * width > LARGE and not is_interlaced(start):
            _check_smallest(file, height, width)
            return spooled_png(file, lambda small: _small_png(file, small), _orientation)
        check_size(file, height, width)
        if bits == 16:
            check_memory(file, file.stat().st_size + 24 * height * width)
            pixels, exif = png16.decode(file.read_bytes())
            return upright(pixels, _orientation(exif))
    if form == "WebP":
        check_size(file, *_webp_size(start))  # Pillow has a limit of its own for these, with another message
    return _decode_tiff(file) if form == "TIFF" else _decode_pillow(file, form)


def _webp_size(start: bytes) -> tuple[int, int]:
    """(height, width) from the first 30 bytes of a WebP file: extended, lossless or plain."""
    if len(start) < 30:
        raise ValueError("the WebP is cut short")
    if start[12:16] == b"VP8X":
        width, height = (1 + int.from_bytes(start[k : k + 3], "little") for k in (24, 27))
    elif start[12:16] == b"VP8L":
        both = int.from_bytes(start[21:25], "little")
        width, height = 1 + (both & 16383), 1 + (both >> 14 & 16383)
    else:
        width, height = (int.from_bytes(start[k : k + 2], "little") & 16383 for k in (26, 28))
    return height, width


def check_size(file: Path, height: int, width: int, bytes_per_pixel: int = 8) -> None:
    """Refuse by the header, before a pixel is decoded. bytes_per_pixel: decoded, and converted once."""
    _check_smallest(file, height, width)
    if height * width > MAX_PIXELS:
        limit = f"at most {MAX_PIXELS // 10**6} million pixels"
        raise UserError(f"expected {limit} in {file}, got {width}x{height}; crop or shrink it")
    check_memory(file, height * width * bytes_per_pixel)


def _check_smallest(file: Path, height: int, width: int) -> None:
    if height < 2 or width < 2:
        raise UserError(f"expected at least 2x2 pixels in {file}, got {width}x{height}; give a larger image")


def _can_spool(page: Any) -> bool:
    """Whether a TIFF page is large, its samples as they are meant, and its compression one of zlib's."""
    return (
        page.imagelength * page.imagewidth > LARGE
        and page.compression in (1, 8, 32946)
        and page.planarconfig == 1
        and page.photometric in (1, 2)
        and page.dtype.name in ("uint8", "uint16", "float32")
    )


def _orientation(exif: bytes) -> int:
    """EXIF tag 274 of a raw EXIF block, 1 (upright) when there is none."""
    from PIL.Image import Exif

    tags = Exif()
    tags.load(exif)
    return int(tags.get(274, 1))


def _tiff_orientation(page: Any) -> int:
    """EXIF tag 274 of a TIFF page, 1 (upright) when there is none."""
    turned = page.tags.get(274)
    return 1 if turned is None else int(turned.value)


def _small_png(file: Path, data: bytes) -> Array:
    """The pixels (H, W, c) of a PNG in memory, as stored. file: where they come from, for the error."""
    from PIL.PngImagePlugin import PngImageFile

    if png16.header(data)[2] == 16:
        return png16.decode(data)[0]
    return _array(file, PngImageFile(BytesIO(data)))


def _decode_pillow(file: Path, form: str) -> Array:
    """Through Pillow's plugin itself: `Image.open` would apply its process-wide pixel limit."""
    from PIL import BmpImagePlugin, ImageOps, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin

    plugins: dict[str, Callable[[Any], Image]] = {
        "PNG": PngImagePlugin.PngImageFile,
        "JPEG": JpegImagePlugin.JpegImageFile,
        "WebP": WebPImagePlugin.WebPImageFile,
        "TIFF": TiffImagePlugin.TiffImageFile,
        "BMP": BmpImagePlugin.BmpImageFile,
    }
    with file.open("rb") as handle, warnings.catch_warnings():  # what matters is said by us, limits included
        warnings.simplefilter("ignore")
        image = plugins[form](handle)
        check_size(file, image.height, image.width)
        image.load()
        ImageOps.exif_transpose(image, in_place=True)
        return _array(file, image)


def converted_from(file: Path, form: str) -> str | None:
    """The mode of a picture whose colours have to be converted, and change by that: CMYK; none for any other."""
    from PIL import JpegImagePlugin, TiffImagePlugin

    plugins: dict[str, Callable[[Any], Image]] = {
        "JPEG": JpegImagePlugin.JpegImageFile,
        "TIFF": TiffImagePlugin.TiffImageFile,
    }
    if form not in plugins:
        return None
    try:
        with file.open("rb") as handle, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mode = plugins[form](handle).mode
    except Exception:  # what Pillow cannot open was read by another way
        return None
    return mode if mode == "CMYK" else None


def _array(file: Path, image: Image) -> Array:
    """The pixels (H, W, c) of any Pillow mode as L, LA, RGB or RGBA."""
    mode, clear = image.mode, image.has_transparency_data
    plain = {"1": "L", "L": "L", "La": "LA", "LA": "LA", "PA": "RGBA", "RGBa": "RGBA", "RGBA": "RGBA"}
    if mode.startswith("I;16"):
        pixels = np.array(image).astype(np.uint16)
    elif mode == "F":
        pixels = np.array(image, dtype=np.float32)
    elif mode in ("I", "LAB", "HSV"):
        raise UserError(f"expected gray or RGB pixels of 8 or 16 bits in {file}, got mode {mode}; convert it")
    else:
        wanted = plain.get(mode, "RGB")
        wanted = {"L": "LA", "RGB": "RGBA"}.get(wanted, wanted) if clear else wanted
        pixels = np.array(image if mode == wanted else image.convert(wanted))
    return pixels.reshape(*pixels.shape[:2], -1)


def _decode_tiff(file: Path) -> Array:
    """Through tifffile, which keeps every depth; through Pillow for palettes, CMYK, one bit and missing codecs.

    Pillow keeps 16 bits of gray but 8 of colour: a 16-bit LZW colour file needs the imagecodecs package.
    """
    from tifffile import PHOTOMETRIC, TiffFile

    logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # what is wrong with a file is said once, by us
    with TiffFile(file) as tiff:
        page: Any = tiff.pages[0]
        _check_smallest(file, page.imagelength, page.imagewidth)
        if any(o + n > file.stat().st_size for o, n in zip(page.dataoffsets, page.databytecounts, strict=True)):
            raise ValueError("the TIFF is cut short")  # tifffile would fill the rest with zeros
        plain = page.photometric in (PHOTOMETRIC.MINISWHITE, PHOTOMETRIC.MINISBLACK, PHOTOMETRIC.RGB)
        if not plain or page.bitspersample == 1:
            return _decode_pillow(file, "TIFF")
        _check_samples(file, page)
        mapped = mapped_tiff(file, page)
        if mapped is not None:
            return mapped
        _check_packed(page)
        if _can_spool(page):
            return spooled_tiff(file, page, _tiff_orientation(page))
        check_size(file, page.imagelength, page.imagewidth, 2 * page.samplesperpixel * page.dtype.itemsize)
        try:
            pixels = page.asarray()
        except ValueError as error:
            if "imagecodecs" not in str(error):
                raise
            pixels = _decode_pillow(file, "TIFF")  # Pillow turns white-is-zero round at 8 bits, not at 16
            deep = page.photometric == PHOTOMETRIC.MINISWHITE and pixels.dtype == np.uint16
            return np.invert(pixels) if deep else pixels
        if page.photometric == PHOTOMETRIC.MINISWHITE and pixels.dtype.kind == "u":
            pixels = np.invert(pixels)
        pixels = np.moveaxis(pixels, 0, -1) if page.axes == "SYX" else pixels
        pixels = upright(pixels.reshape(*pixels.shape[:2], -1), _tiff_orientation(page))
    if pixels.dtype.kind != "f":
        return pixels
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite and is then refused by name
        return pixels.astype(np.float32)


def _check_packed(page: Any) -> None:
    """Refuse, before they are decoded, more pixels than the stored bytes can hold."""
    size = page.imagelength * page.imagewidth * page.samplesperpixel * page.dtype.itemsize
    if page.compression in _RATIO and size > _RATIO[page.compression] * sum(page.databytecounts) + (1 << 16):
        raise ValueError(f"{sum(page.databytecounts):,} bytes cannot hold {size:,} bytes of pixels")


def _check_samples(file: Path, page: Any) -> None:
    """Refuse a page whose samples or axes are not an image's, saying which they are."""
    name, whole = str(page.dtype), page.dtype is not None and page.bitspersample == 8 * page.dtype.itemsize
    if not whole or name not in ("uint8", "uint16", "float16", "float32", "float64"):
        got = f"{page.bitspersample}-bit {name}"
        raise UserError(f"expected uint8, uint16 or float samples in {file}, got {got}; convert it")
    if page.axes not in ("YX", "YXS", "SYX") or page.samplesperpixel > 4:
        raise UserError(f"expected a flat image of 1 to 4 channels in {file}, got {page.shape}; split it")
