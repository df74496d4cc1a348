"""A model as a mesh in the user's units."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from alfilter.analysis import capped, cut_offs_at, filter_of, filtered_encoding_of
from alfilter.errors import UserError, need
from alfilter.evaluate import surface_of
from alfilter.files import replacing
from alfilter.geometry.frame import Frame
from alfilter.geometry.strays import Clearance
from alfilter.geometry.surface import Surface, memory_needed
from alfilter.methods import Field
from alfilter.runtime.limits import free_memory

FORMATS = ("ply", "obj", "stl", "glb")


def mesh_file(
    field: Field, out: str | Path, resolution: int = 512, alpha: bool = False, detail: float | None = None
) -> dict[str, Any]:
    """Write a shape model's surface; returns its size and what it took.

    alpha: the cut-off as vertex colours (PLY, OBJ, GLB), and `cut_off`, what the darkest and the brightest stand for in
    cycles across the domain. detail: nothing faster than that many cycles across the domain passes
    the filter: a smoother surface.
    """
    form = Path(out).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise UserError(f"a mesh's name ends in .{', .'.join(FORMATS)}, got {Path(out).name!r}; rename the output")
    frame = shape_frame(field)
    check_resolution(resolution)
    if alpha and (filtered_encoding_of(field) is None or form == "stl"):
        why = "STL holds no colours" if form == "stl" else f"{field.spec.get('method')} has no α"
        raise UserError(f"alpha=True colours the surface by α, but {why}; leave it out")
    if detail is not None and not 0 < detail < 1e6:
        raise UserError(f"detail is a frequency above 0 in cycles across the domain, got {detail}; 16 is smooth")
    shown = field if detail is None else capped(field, detail)
    clearance = Clearance.read(field.signal.get("clearance"))
    need("trimesh")
    began = time.monotonic()
    with replacing(out) as temporary:  # an unwritable place is refused before the work
        surface = surface_of(shown, resolution, clearance)
        colours, ends = _cut_off_colours(field, surface) if alpha else (None, None)
        write_mesh(surface, frame, temporary, form, colours)
    return {
        "mesh": str(out),
        "resolution": resolution,
        "vertices": len(surface.vertices),
        "faces": len(surface.faces),
        "evaluated": surface.evaluated,
        "share": round(surface.share, 6),
        "reopened": surface.reopened,
        "strays": surface.strays,
        **({"cut_off": ends} if alpha else {}),
        "seconds": round(time.monotonic() - began, 3),
    }


def write_mesh(surface: Surface, frame: Frame, path: Path, form: str, colours: Any = None) -> None:
    """A surface in the user's units as PLY, OBJ, STL or GLB."""
    trimesh = need("trimesh")
    body = trimesh.Trimesh(
        frame.back(surface.vertices), surface.faces, vertex_normals=surface.normals, vertex_colors=colours,
        process=False, validate=False,
    )  # fmt: skip
    options: dict[str, Any] = {"ply": {"vertex_normal": True}, "obj": {"include_normals": True}}.get(form, {})
    data = body.export(file_type=form, **options)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def shape_frame(field: Field) -> Frame:
    """The frame of the model's shape; a model of something else is refused."""
    if field.signal.get("kind") != "shape" or (field.in_dim, field.out_dim) != (3, 1):
        raise UserError(f"the model represents {field.signal.get('kind') or 'nothing yet'}, not a shape; fit a mesh")
    return Frame.read(field.signal.get("frame"))


def check_resolution(resolution: int) -> None:
    """Refuse a grid that the machine's memory cannot hold."""
    if not 8 <= resolution <= 8192:
        raise UserError(f"resolution must be between 8 and 8192, got {resolution}; 512 is usual")
    free, needed = free_memory(), memory_needed(resolution)
    if free is not None and needed > free:
        raise UserError(
            f"resolution {resolution} needs about {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free; lower it"
        )


def _cut_off_colours(field: Field, surface: Surface) -> tuple[Any, tuple[float, float]]:
    """The cut-off at the vertices as colours (n, 4) uint8, dark to bright on a logarithmic scale, and its two ends.

    The scale is the report's: from the 1st to the 99th percentile, in cycles across the domain.
    """
    import matplotlib

    from alfilter.report.figures.frequency import frequency_range

    cycles = cut_offs_at(filter_of(field), surface.vertices)
    low, high = frequency_range(cycles)
    share = np.clip(np.log(cycles / low) / np.log(high / low), 0, 1)
    return (matplotlib.colormaps["viridis"](share) * 255).astype(np.uint8), (low, high)
