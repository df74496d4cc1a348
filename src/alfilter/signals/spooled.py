"""Large compressed pictures: decoded piece by piece into a file that has no name, and left there."""

from __future__ import annotations

from math import prod
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError

Array = NDArray[Any]


def spooled_tiff(file: Path, page: Any) -> Array:
    """The pixels (H, W, c) of a TIFF page, strip by strip or tile by tile: in memory is one of them at a time.

    page: tifffile's, of chunky samples, whose compression it can undo.
    """
    shape = page.imagelength, page.imagewidth, page.samplesperpixel
    pixels = scratch(file, shape, page.dtype)
    for segment, place, _ in page.segments():
        _, _, top, left, _ = place
        if segment is None:
            continue  # a strip that was never written is zero
        rows, columns = (
            min(n, end - start) for n, end, start in zip(segment.shape[1:3], shape, (top, left), strict=False)
        )
        pixels[top : top + rows, left : left + columns] = segment[0, :rows, :columns]
    return pixels


def scratch(file: Path, shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros in a file that vanishes with the array. file: whose pixels they will be, for the error."""
    size = prod(shape) * np.dtype(dtype).itemsize
    try:
        with TemporaryFile() as handle:
            handle.truncate(size)
            array: Array = np.memmap(handle, dtype=np.dtype(dtype).newbyteorder("="), mode="r+", shape=shape)
            return array
    except OSError as error:
        wanted = f"{size / 2**30:.1f} GB"
        raise UserError(
            f"cannot unpack {file}: {wanted} of disk for temporary files are needed ({error.strerror or error}); "
            "free some space, or name another folder in TMPDIR"
        ) from error
