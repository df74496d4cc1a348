"""Images as signals: read by content, written by suffix, and the samples a newcomer meets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, nearest
from alfilter.files import replacing, write_bytes
from alfilter.signals import png16
from alfilter.signals.file_checks import head, looks_like
from alfilter.signals.mapped import check_finite
from alfilter.signals.pixels import converted_from, decode, sniff
from alfilter.signals.signal import GridSignal

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
SAMPLES = (  # inside the scikit-image wheel: nothing is downloaded
    *("astronaut", "brick", "camera", "cell", "chelsea", "clock", "coffee", "coins", "colorwheel", "grass", "gravel"),
    *("hubble_deep_field", "immunohistochemistry", "logo", "moon", "page", "retina", "rocket", "text"),
)
Array = NDArray[Any]


def read_image(path: str | Path, say: Callable[[str], None] = lambda line: None) -> GridSignal:
    """The image in a PNG, JPEG, WebP, TIFF or BMP file, upright, as a signal of 1 to 4 channels.

    Palettes become RGB (RGBA when transparent), one bit becomes L, CMYK becomes RGB, a transparent colour becomes
    alpha; colour profiles are ignored. Of several pages or frames the first is read. A large uncompressed TIFF stays in
    its file. say: called when colours were converted.
    """
    file = Path(path)
    start = head(file)
    form = sniff(start)
    if form is None:
        raise UserError(f"expected PNG, JPEG, WebP, TIFF or BMP content in {file}, got {looks_like(start)}; convert it")
    try:
        data = decode(file, form, start)
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(f"cannot read {file}: it does not fit in memory; shrink it") from error
    except Exception as error:  # damaged bytes make decoders fail in every way there is
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"cannot read {file} as {form}: {reason}; it is damaged or cut short, get it again") from error
    check_finite(file, data)
    if (mode := converted_from(file, form)) is not None:
        say(f"{file.name} holds {mode} colours; they were converted to RGB, without regard to their profile")
    return GridSignal(data, mode=MODES[data.shape[-1]])


def sample(name: str) -> GridSignal:
    """An image that ships with scikit-image, by name.

    >>> sample("astronaut").shape
    (512, 512)
    """
    if name not in SAMPLES:
        raise UserError(f"expected the name of a sample image, got {name!r}; {nearest(name, SAMPLES)}")
    import skimage.data

    pixels = np.asarray(getattr(skimage.data, name)())
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return GridSignal(pixels, mode=MODES[pixels.shape[-1]])


@dataclass(frozen=True)
class Format:
    """What a file format holds: channel counts, bits per channel, pixels per side."""

    name: str
    channels: tuple[int, ...]
    bits: tuple[int, ...]
    side: int


_PNG = Format("PNG", (1, 2, 3, 4), (8, 16), 2**31 - 1)
_JPEG = Format("JPEG", (1, 3), (8,), 65500)
_TIFF = Format("TIFF", (1, 2, 3, 4), (8, 16, 32), 2**31 - 1)
_WEBP = Format("WebP", (1, 2, 3, 4), (8,), 16383)
_BMP = Format("BMP", (1, 3), (8,), 2**31 - 1)
FORMATS = {".png": _PNG, ".jpg": _JPEG, ".jpeg": _JPEG, ".webp": _WEBP, ".tif": _TIFF, ".tiff": _TIFF, ".bmp": _BMP}


def write_image(path: str | Path, values: Array, bits: int = 8) -> None:
    """Write values (H, W, c) in [0, 1] as the suffix says, clipped and rounded to 8 or 16 bits per channel.

    `bits=32` stores float32 in a TIFF as given, neither clipped nor rounded. JPEG is written at quality 95 without
    colour subsampling, WebP without loss (gray as RGB).
    """
    file = Path(path)
    if Path(path).suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise UserError(f"expected an image name that ends in {known}, got {file.name!r}; rename the output")
    if values.ndim != 3 or values.size == 0 or values.dtype.kind != "f":
        raise UserError(f"expected float values (H, W, c) for {file}, got {values.dtype} of shape {values.shape}")
    check_fits(file, values.shape, bits)
    check_numbers(file, values)
    write_pixels(file, values.astype(np.float32) if bits == 32 else quantise(values, bits))


def write_pixels(path: str | Path, pixels: Array) -> None:
    """Write pixels (H, W, c) of uint8, uint16 or float32 as they are; `check_fits` says which a format can hold."""
    file, form = Path(path), FORMATS[Path(path).suffix.lower()]
    if form is _PNG and pixels.dtype == np.uint16:
        write_bytes(file, png16.encode(pixels))
        return
    with replacing(file) as temporary:
        _write_tiff(temporary, pixels) if form is _TIFF else _write_pillow(temporary, pixels, form.name)


def check_fits(path: str | Path, shape: tuple[int, ...], bits: int) -> None:
    """Refuse what the format of that name cannot hold: a picture of `shape` (H, W, c)."""
    file, form = Path(path), FORMATS[Path(path).suffix.lower()]
    if shape[-1] not in form.channels:
        able = " or ".join(map(str, form.channels))
        raise UserError(f"{form.name} holds {able} channels, got {shape[-1]} for {file}; write a .png instead")
    if bits not in form.bits:
        able = " or ".join(map(str, form.bits))
        raise UserError(f"{form.name} holds {able} bits per channel, got {bits} for {file}; write a .png or .tif")
    if max(shape[:2]) > form.side:
        size = f"{shape[1]}x{shape[0]}"
        raise UserError(f"{form.name} holds at most {form.side} pixels per side, got {size}; write a .png instead")


def check_numbers(path: str | Path, values: Array) -> None:
    """Refuse values of which some are no numbers."""
    if count := int(np.isnan(values).sum()):
        raise UserError(f"expected numbers to write to {Path(path)}, got {count} NaN; the fit has diverged")


def quantise(values: Array, bits: int) -> Array:
    """Round values clipped to [0, 1] to the nearest of 2^bits levels; the product is taken in float64, band by band.

    >>> quantise(np.array([[[-1.0], [0.5], [0.999]]]), 8).flatten().tolist()
    [0, 128, 255]
    """
    top = 2**bits - 1
    pixels = np.empty(values.shape, np.uint8 if bits == 8 else np.uint16)
    for start in range(0, len(values), 256):
        band = values[start : start + 256].astype(np.float64)
        pixels[start : start + 256] = np.rint(band.clip(0, 1) * top)
    return pixels


def _write_tiff(file: Path, pixels: Array) -> None:
    from tifffile import imwrite

    gray, alpha = pixels.shape[-1] < 3, pixels.shape[-1] in (2, 4)
    imwrite(
        file,
        pixels[..., 0] if pixels.shape[-1] == 1 else pixels,
        photometric="minisblack" if gray else "rgb",
        planarconfig=None if pixels.shape[-1] == 1 else "contig",
        extrasamples=["unassalpha"] if alpha else None,
        compression="zlib",
        metadata=None,
    )


def _write_pillow(file: Path, pixels: Array, form: str) -> None:
    from PIL import Image

    options: dict[str, dict[str, Any]] = {
        "JPEG": {"quality": 95, "subsampling": 0},
        "WebP": {"lossless": True, "exact": True},  # exact: colours under full transparency are kept
    }
    plain = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    Image.fromarray(np.ascontiguousarray(plain)).save(file, format=form, **options.get(form, {}))
