"""Large compressed pictures: decoded piece by piece into a file that has no name, and left there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.runtime.stages import advance, stage
from alfilter.signals.png_bands import pixel_bands, read_layout

Array = NDArray[Any]


def spooled_tiff(file: Path, page: Any, orientation: int = 1) -> Array:
    """The pixels (H, W, c) of a TIFF page, strip by strip or tile by tile: in memory is one of them at a time.

    page: tifffile's, of chunky samples, whose compression it can undo. orientation: EXIF's.
    """
    shape = page.imagelength, page.imagewidth, page.samplesperpixel
    pixels, stored = upright_scratch(file, shape, page.dtype, orientation)
    with stage("unpacking", shape[0] * shape[1]):
        for segment, place, _ in page.segments():
            _, _, top, left, _ = place
            rows, columns = (
                min(n, end - start) for n, end, start in zip(page.chunks[:2], shape, (top, left), strict=False)
            )
            if segment is not None:  # a strip that was never written is zero
                stored[top : top + rows, left : left + columns] = segment[0, :rows, :columns]
            advance(rows * columns)
    return pixels


def spooled_png(file: Path, convert: Callable[[bytes], Array], orientation: Callable[[bytes], int]) -> Array:
    """The pixels (H, W, c) of a PNG that is not interlaced, upright, some rows at a time.

    convert: the pixels of a small PNG file, given as bytes. orientation: that of a raw EXIF block.
    """
    with file.open("rb") as handle:
        layout = read_layout(handle)
        top, turned = 0, orientation(layout.kept.get(b"eXIf", b""))
        with stage("unpacking", layout.height * layout.width):
            for band in pixel_bands(handle, layout, convert):
                if top == 0:
                    shape = layout.height, layout.width, band.shape[2]
                    pixels, stored = upright_scratch(file, shape, band.dtype, turned)
                stored[top : top + len(band)] = band
                top += len(band)
                advance(len(band) * layout.width)
    return pixels


def upright(pixels: Array, orientation: int) -> Array:
    """Turn stored pixels (H, W, c) the way EXIF orientation 1 to 8 says they are to be seen: a view."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels


def upright_scratch(file: Path, shape: tuple[int, ...], dtype: Any, orientation: int) -> tuple[Array, Array]:
    """An upright picture in a file that vanishes with it, and a view of it as its pixels (H, W, c) are stored."""
    height, width, channels = shape
    pixels = scratch(file, (width, height, channels) if orientation >= 5 else shape, dtype)
    return pixels, upright(pixels, {6: 8, 8: 6}.get(orientation, orientation))  # the turns that undo each other


def allocate(handle: int, size: int) -> None:
    """Make a file that long, its space reserved where the system can: a full disk is then reported here."""
    if sys.platform == "linux" and size:
        os.posix_fallocate(handle, 0, size)
    else:
        os.ftruncate(handle, size)


def scratch(file: Path, shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros in a file that vanishes with the array. file: whose pixels they will be, for the error."""
    size = prod(shape) * np.dtype(dtype).itemsize
    try:
        with TemporaryFile() as handle:
            allocate(handle.fileno(), size)
            array: Array = np.memmap(handle, dtype=np.dtype(dtype).newbyteorder("="), mode="r+", shape=shape)
            return array
    except OSError as error:
        wanted = f"{size / 2**30:.1f} GB"
        raise UserError(
            f"cannot unpack {file}: {wanted} of disk for temporary files are needed ({error.strerror or error}); "
            "free some space, or name another folder in TMPDIR"
        ) from error
