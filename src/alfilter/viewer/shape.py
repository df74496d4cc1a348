"""The viewer of a shape: its surface at several resolutions, slices of the distance, single places.

Everything is in the domain [-1, 1]³; distances are also given in the units of the fitted mesh.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.analysis import cut_offs_at, filtered_encoding_of
from alfilter.encodings import FilteredEncoding
from alfilter.errors import UserError
from alfilter.evaluate import distances_at, surface_of
from alfilter.geometry.frame import Frame
from alfilter.geometry.strays import Clearance
from alfilter.geometry.surface import Surface
from alfilter.methods import Field, parameter_count
from alfilter.runtime.bounded_executor import BoundedExecutor
from alfilter.viewer.base import Answer, Binary, Request, Viewer
from alfilter.viewer.filter_facts import filter_at, filter_facts

LEVELS = (48, 96, 192, 384)  # grid points per side of the surfaces, coarse to fine
SIZES = (32, 64, 128, 256, 512)  # samples per side of the slices
_MAX_QUEUED = 12  # requests


class ShapeViewer(Viewer):
    """One shape model and everything that may be asked about it."""

    page = "shape"

    def __init__(self, field: Field, name: str) -> None:
        if field.signal.get("kind") != "shape" or (field.in_dim, field.out_dim) != (3, 1):
            raise UserError(f"{name} represents {field.signal.get('kind') or 'nothing yet'}, not a shape; fit a mesh")
        self.field, self.name = field, name
        self.frame = Frame.read(field.signal.get("frame"))
        self.clearance = Clearance.read(field.signal.get("clearance"))
        self.encoding = filtered_encoding_of(field)
        self._meshes: dict[int, bytes] = {}
        self._surfaces = BoundedExecutor(1, _MAX_QUEUED)  # a fine surface takes seconds
        self._quick = BoundedExecutor(1, _MAX_QUEUED)  # slices and places do not wait for it

    def close(self) -> None:
        self._surfaces.close()
        self._quick.close()

    def warm_up(self) -> None:
        """Evaluate a few points: kernels are compiled before anyone waits."""
        distances_at(self.field, np.zeros((4, 3)))

    @property
    def reads(self) -> Mapping[str, Answer]:
        return {"/api/about": self.about, "/api/mesh": self.mesh, "/api/slice": self.slice, "/api/at": self.place}

    def mesh(self, request: Request) -> Binary:
        """The surface at one of the resolutions, extracted once."""
        level = request.choice("resolution", LEVELS)
        if level not in self._meshes:
            self._surfaces.run(lambda: self._extract(level), request.is_wanted)
        return Binary(self._meshes[level], f"mesh {level}")

    def slice(self, request: Request) -> Binary:
        """The distance, and the cut-off, on a plane across an axis."""
        axis, size, at = request.choice("axis", (0, 1, 2)), request.choice("size", SIZES), request.coordinate("at")
        data = self._quick.run(lambda: slice_bytes(self.field, axis, at, size), request.is_wanted)
        return Binary(data, f"{size}x{size} f4")

    def place(self, request: Request) -> dict[str, Any]:
        """Everything about the place (x, y, z)."""
        place = [request.coordinate(name) for name in ("x", "y", "z")]
        return self._quick.run(lambda: self.at(place), request.is_wanted)

    def about(self, request: Request) -> dict[str, Any]:
        """What the page shows before anything is evaluated; frequencies in cycles across the domain."""
        encoding = self.encoding
        return {
            "kind": "shape",
            "name": self.name,
            "method": self.field.spec.get("method"),
            "params": parameter_count(self.field),
            "frame": self.frame.describe(),
            "levels": list(LEVELS),
            "sizes": list(SIZES),
            "alpha": encoding and filter_facts(encoding),
        }

    def at(self, place: list[float]) -> dict[str, Any]:
        """Distance, α and the filter's response at a place (x, y, z) of the domain, and where it is in the mesh."""
        x = np.array([place])
        answer: dict[str, Any] = {
            "place": place,
            "user": self.frame.back(x)[0].tolist(),
            "distance": float(distances_at(self.field, x)[0]) * self.frame.scale,
        }
        return answer if self.encoding is None else answer | filter_at(self.encoding, place)

    def _extract(self, level: int) -> None:
        if level not in self._meshes:
            surface = surface_of(self.field, level, self.clearance)
            self._meshes[level] = mesh_bytes(surface, cut_offs(self.encoding, surface.vertices))


def cut_offs(encoding: FilteredEncoding | None, points: NDArray[Any]) -> NDArray[np.float64] | None:
    """The cut-off at points (n, 3) in cycles across the domain; None for a field that has no filter."""
    return None if encoding is None else cut_offs_at(encoding, points)


def mesh_bytes(surface: Surface, cut_off: NDArray[np.float64] | None) -> bytes:
    """A surface as little-endian bytes: a head of four uint32 (1, vertices n, faces m, whether a cut-off follows), then
    float32 positions (n, 3), int8 normals (n, 4) in 127ths, float32 cut-offs (n,) where there are any, uint32 faces
    (m, 3).

    >>> ball = surface_of(lambda x: x.norm(dim=-1, keepdim=True) - 0.5, 16)
    >>> len(mesh_bytes(ball, None)) == 16 + 16 * len(ball.vertices) + 12 * len(ball.faces)
    True
    """
    normals = np.zeros((len(surface.normals), 4), np.int8)
    normals[:, :3] = np.round(surface.normals * 127)
    parts = [struct.pack("<4I", 1, len(surface.vertices), len(surface.faces), int(cut_off is not None))]
    parts += [surface.vertices.astype("<f4").tobytes(), normals.tobytes()]
    if cut_off is not None:
        parts.append(cut_off.astype("<f4").tobytes())
    return b"".join([*parts, surface.faces.astype("<u4").tobytes()])


def slice_points(axis: int, at: float, size: int) -> NDArray[np.float32]:
    """The places of a slice across `axis`: rows along the first of the other two axes, columns along the second.

    >>> slice_points(1, 0.5, 2).tolist()[1]
    [-1.0, 0.5, 1.0]
    """
    line = np.linspace(-1, 1, size, dtype=np.float32)
    rows, columns = np.meshgrid(line, line, indexing="ij")
    places = np.full((size * size, 3), at, np.float32)
    first, second = (k for k in range(3) if k != axis)
    places[:, first], places[:, second] = rows.ravel(), columns.ravel()
    return places


def slice_bytes(field: Field, axis: int, at: float, size: int) -> bytes:
    """The distance on a slice, then the cut-off if the field has one: float32 (size, size) each, in the domain's units
    and in cycles across it.
    """
    points = slice_points(axis, at, size)
    values: list[NDArray[Any]] = [distances_at(field, points)]
    cut_off = cut_offs(filtered_encoding_of(field), points)
    return b"".join(part.astype("<f4").tobytes() for part in (*values, *([] if cut_off is None else [cut_off])))
