"""Light fields as signals over view (u, v), row and column: arrays of five axes, archives of one, folders of views."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.signals.archive import read_array_of
from alfilter.signals.file_checks import check_memory
from alfilter.signals.image import read_image
from alfilter.signals.mapped import MODES, check_finite
from alfilter.signals.signal import GridSignal
from alfilter.signals.video import frame_names

AXES = 5  # u, v, row, column, channel
_VIEW = re.compile(r"(?i)view[_-]?(\d+)[_-](\d+)")
Array = NDArray[Any]
Name = tuple[int, int]


def lightfield(data: Array, source: Path | str) -> GridSignal:
    """The light field of an array (u, v, y, x, c) with at least 2 samples along each axis. source: for the error.

    >>> lightfield(np.zeros((3, 3, 4, 6, 1), np.uint8), "views").kind
    'lightfield'
    """
    if data.ndim != AXES or not 1 <= data.shape[-1] <= max(MODES) or min(data.shape[:-1], default=0) < 2:
        wanted = f"a light field (u, v, y, x, 1 to {max(MODES)}) with 2 samples or more per axis"
        views = data.shape[:2] if data.ndim == AXES else ()
        hint = "a line of views is a video: give the other axis alone" if 1 in views else "reshape it"
        raise UserError(f"expected {wanted} in {source}, got shape {data.shape}; {hint}")
    check_finite(source, data)
    return GridSignal(data, kind="lightfield", mode=MODES[data.shape[-1]])


def read_archived(file: Path) -> GridSignal | None:
    """The light field in an .npz whose one array of five axes it is; none where it has no such array."""
    array = read_array_of(file, AXES)
    if array is None:
        return None
    if array.dtype.kind == "b" or array.dtype == np.float16:
        array = array.astype(np.float32)
    return lightfield(np.ascontiguousarray(array, array.dtype.newbyteorder("=")), file)


def view_names(folder: Path) -> dict[Name, Path] | None:
    """The pictures of a folder by view: `view_U_V.png` is the one at (U, V). None where no name is like that.

    A folder with some such names has no others, and a picture for every U and V.
    """
    files = frame_names(folder)
    matches = {file: _VIEW.fullmatch(file.stem) for file in files}
    if not any(matches.values()):
        return None
    if other := next((file for file, match in matches.items() if match is None), None):
        raise UserError(f"expected views called view_U_V in {folder}, got {other.name}; take it out or rename it")
    views = {(int(match[1]), int(match[2])): file for file, match in matches.items() if match is not None}
    down, across = (sorted({name[k] for name in views}) for k in (0, 1))
    if missing := [(u, v) for u in down for v in across if (u, v) not in views]:
        whole, (u, v) = f"{len(down)}x{len(across)}", missing[0]
        raise UserError(f"expected all {whole} views in {folder}, got {len(views)}; view_{u}_{v} is missing, add it")
    return views


def read_views(folder: Path, views: dict[Name, Path]) -> GridSignal:
    """The light field of a folder's pictures, which have one size and depth."""
    down, across = (sorted({name[k] for name in views}) for k in (0, 1))
    first = read_image(views[down[0], across[0]]).data
    check_memory(folder, 3 * len(views) * first.nbytes)
    data = np.empty((len(down), len(across), *first.shape), first.dtype)
    for i, u in enumerate(down):
        for j, v in enumerate(across):
            view = read_image(views[u, v]).data
            if (view.shape, view.dtype) != (first.shape, first.dtype):
                sizes = [f"{a.shape[1]}x{a.shape[0]}x{a.shape[2]} {a.dtype}" for a in (view, first)]
                raise UserError(
                    f"expected views of one size in {folder}, {views[u, v].name} is {sizes[0]}, the first {sizes[1]}; "
                    "crop or convert them"
                )
            data[i, j] = view
    return lightfield(data, folder)
