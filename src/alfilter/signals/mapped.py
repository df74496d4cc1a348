"""Pictures larger than memory should hold: arrays that stay in their file and are read a gathered row at a time."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.signals.signal import GridSignal
from alfilter.signals.spooled import scratch

MAGIC = b"\x93NUMPY"
LARGE = 1 << 24  # pixels above which a picture stays in its file and is scored in bands
_BAND = 1 << 22  # numbers processed at once
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS = 16  # of a volume
_KINDS = ("uint8", "uint16", "float32")
Array = NDArray[Any]


def is_npy(start: bytes) -> bool:
    """Whether a file's first bytes are those of a NumPy array.

    >>> is_npy(b"\\x93NUMPY\\x01\\x00"), is_npy(b"PK")
    (True, False)
    """
    return start.startswith(MAGIC)


def read_npy(path: str | Path, say: Callable[[str], None] = lambda line: None) -> GridSignal:
    """The picture (H, W) or (H, W, c ≤ 4), volume (D, H, W) or (D, H, W, c ≤ 16) or light field (u, v, y, x, c ≤ 4).

    A .npy file holds numbers of any type and byte order. Three axes of which the last has at most four samples are a
    picture. A large one is memory-mapped: nothing of it is in memory but what the system keeps of recent reads.
    say: called where channels seem to come first.
    """
    file = Path(path)
    try:
        data: Array = np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # damaged headers fail in every way that a parser of Python can
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise UserError(f"cannot read {file} as a NumPy array: {reason}; save it again with np.save") from error
    if data.dtype.kind not in "biuf":
        raise UserError(f"expected numbers in {file}, got {data.dtype}; convert it with astype")
    shape, kind = _understood(file, data.shape)
    is_single = data.dtype.kind == "b" or data.dtype == np.float16  # half precision, and booleans as 0 and 1
    dtype = np.dtype(np.float32) if is_single else data.dtype.newbyteorder("=")
    if prod(shape[:-1]) <= LARGE:
        data = np.array(data, dtype, order="C").reshape(shape)
    else:
        data = _in_rows(file, data, dtype).reshape(shape)
    check_finite(file, data)
    if kind == "volume":
        if len(shape) == 4 and shape[-1] == 1 and shape[0] in (3, 4):
            sizes = "x".join(map(str, shape[:3]))
            say(f"{file} is read as a volume of {sizes} samples; a picture has its channels last")
        return GridSignal(data, kind=kind)
    return GridSignal(data, kind=kind, mode=MODES[shape[-1]], bits=depth(data) if kind == "image" else None)


def _in_rows(file: Path, data: Array, dtype: np.dtype[Any]) -> Array:
    """A large array in row-major order and native numbers: as it is in its file, or a copy in a temporary one."""
    if data.flags.c_contiguous and data.dtype == dtype:
        return data
    rows = max(1, _BAND // max(1, data[0].size))
    copy = scratch(file, data.shape, dtype)
    for start in range(0, len(data), rows):
        copy[start : start + rows] = data[start : start + rows]
    return copy


def _understood(file: Path, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """The shape with an axis of channels, and the kind of signal that has it."""
    flat = len(shape) == 2 or (len(shape) == 3 and shape[-1] <= max(MODES))
    whole = shape if len(shape) in (5, 3 if flat else 4) else (*shape, 1)
    kind = {3: "image", 4: "volume", 5: "lightfield"}.get(len(whole))
    most = _CHANNELS if kind == "volume" else max(MODES)
    if kind is None or not 1 <= whole[-1] <= most or min(whole[:-1]) < 2:
        known = f"a picture (H, W) or (H, W, 1 to 4), or a volume (D, H, W) or (D, H, W, 1 to {_CHANNELS})"
        known += ", or a light field (u, v, y, x, 1 to 4)" if len(shape) > 3 else ""
        raise UserError(f"expected {known} in {file}, got shape {shape}; reshape it")
    return whole, kind


def depth(data: Array) -> int:
    """The bits per channel that a picture of such numbers is written with: as they are, or the nearest that files hold.

    >>> depth(np.zeros(1, np.int64)), depth(np.zeros(1))
    (16, 32)
    """
    return 32 if data.dtype.kind == "f" else 8 if data.dtype == np.uint8 else 16


def mapped_tiff(file: Path, page: Any) -> Array | None:
    """The pixels (H, W, c) of a large uncompressed TIFF page in its file; none when they must be decoded.

    page: tifffile's first page, whose samples are known to be a picture's.
    """
    turned = page.tags.get(274)
    plain = page.is_memmappable and page.dtype.name in _KINDS and page.photometric in (1, 2)
    if not plain or page.imagelength * page.imagewidth <= LARGE or (turned is not None and int(turned.value) != 1):
        return None
    from tifffile import memmap

    data: Array = memmap(file, page=0, mode="r")
    if not data.dtype.isnative or data.shape[:2] != (page.imagelength, page.imagewidth):
        return None  # the other byte order, or planes one after the other
    return data.reshape(*data.shape[:2], -1)


def check_finite(file: Path | str, data: Array) -> None:
    """Refuse float samples (..., c) of which some are not finite, looked at band by band."""
    if data.dtype.kind != "f":
        return
    rows = max(1, _BAND // max(1, data[0].size))
    count, first = 0, -1
    for start in range(0, len(data), rows):
        bad = ~np.isfinite(data[start : start + rows])
        if first < 0 and bad.any():
            first = start * data[0].size + int(bad.argmax())
        count += int(np.count_nonzero(bad))
    if count:
        place = [int(k) for k in np.unravel_index(first, data.shape)][:-1]
        where = f"the first at row {place[0]}, column {place[1]}" if len(place) == 2 else f"the first at {tuple(place)}"
        raise UserError(
            f"expected finite {data.dtype} values in {file}, got {count} NaN or infinite, {where}; correct them"
        )
