"""What is represented: signals read from files or samples, and which of their samples are seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from alfilter.errors import UserError
from alfilter.signals.archive import contents
from alfilter.signals.audio import is_wav, read_audio, write_audio
from alfilter.signals.file_checks import head, is_folder, looks_like, looks_like_model
from alfilter.signals.image import read_image, sample, write_image
from alfilter.signals.lightfield import read_archived, read_views, view_names
from alfilter.signals.mapped import LARGE, is_npy, read_npy
from alfilter.signals.mesh import HEAD, ShapeSignal, is_bare_cloud, read_shape, sniff_shape
from alfilter.signals.observe import observed
from alfilter.signals.pixels import sniff
from alfilter.signals.points import PointSignal, read_points
from alfilter.signals.signal import GridSignal, Signal, grid_coords
from alfilter.signals.video import is_clip, is_gif, read_clip, read_frames, read_gif
from alfilter.signals.volume import is_nifti, read_nifti

__all__ = [
    "LARGE",
    "GridSignal",
    "PointSignal",
    "ShapeSignal",
    "Signal",
    "grid_coords",
    "observed",
    "open_signal",
    "read_audio",
    "read_clip",
    "read_frames",
    "read_gif",
    "read_image",
    "read_nifti",
    "read_npy",
    "read_points",
    "read_shape",
    "sample",
    "write_audio",
    "write_image",
]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Reader:
    """One kind of file: what it is called, whether the first bytes are its, and how it is read."""

    understood: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path, Say], Signal]


READERS = (
    Reader("a PNG, JPEG, WebP, TIFF or BMP image", lambda start: sniff(start) is not None, read_image),
    Reader("a WAV sound", is_wav, lambda file, say: read_audio(file)),
    Reader("a NumPy array (.npy)", is_npy, read_npy),
    Reader("a NIfTI volume", is_nifti, lambda file, say: read_nifti(file)),
    Reader("an MP4, MOV, MKV, WebM or AVI video", is_clip, lambda file, say: read_clip(file)),
    Reader("a GIF", is_gif, lambda file, say: read_gif(file)),
    Reader("a PLY, OBJ, STL, OFF, GLB or XYZ shape", lambda start: sniff_shape(start) is not None, read_shape),
)


def open_signal(spec: str, say: Say = lambda line: None) -> Signal:
    """The signal `sample:NAME`, or the one in the file `spec`, its kind taken from its content.

    say: called with the progress of reading a large mesh, and with what of a file could not be kept.

    >>> open_signal("sample:camera").describe()["shape"]
    [512, 512]
    """
    if spec.startswith("sample:"):
        return sample(spec.removeprefix("sample:"))
    if re.match(r"(?i)[a-z][a-z0-9+.-]+://", spec):
        raise UserError(f"expected a file, got the address {spec}; download it first")
    file = Path(spec).expanduser()
    if is_folder(file):
        views = view_names(file)
        return read_frames(file) if views is None else read_views(file, views)
    start = head(file, HEAD)
    for reader in READERS:
        if reader.recognises(start):
            return reader.read(file, say)
    if looks_like_model(start):
        raise UserError(
            f"expected a signal, {file} is a model or a checkpoint, which eval, render, info and view take; "
            "give what was fitted, or a signal to fit and this to start from",
            arguments=["start"],
        )
    if start.startswith(b"PK") and (archived := read_archived(file)) is not None:
        return archived
    if start.startswith(b"PK") and (held := contents(file)) is not None:
        raise UserError(
            f"{file} holds the arrays {held}; save the one to fit with np.save, "
            "or name columns that say where and what",
            arguments=["coords", "values"],
        )
    if is_bare_cloud(start):
        raise UserError(
            f"{file} holds points without normals, of which no inside can be told; give lines x y z nx ny nz, "
            "or name a table's columns",
            arguments=["coords", "values"],
        )
    known = ", ".join([*(reader.understood for reader in READERS), "a light field (.npz)"])
    raise UserError(f"expected {known} or sample:NAME, got {looks_like(start)} in {file}; convert it")
