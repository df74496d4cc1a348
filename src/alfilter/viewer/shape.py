"""What the page of a shape asks for: its surface at several resolutions, slices of the distance, single places.

Everything is in the domain [-1, 1]³; distances are also told in the units of the fitted mesh. Answers are plain bytes
or plain objects.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of
from alfilter.core.filter import band_response
from alfilter.encodings import FilteredFourier
from alfilter.errors import UserError
from alfilter.evaluate import distances_at
from alfilter.geometry.frame import Frame
from alfilter.geometry.surface import Surface, extract
from alfilter.methods import Field, parameter_count
from alfilter.runtime.bounded_executor import BoundedExecutor
from alfilter.training import load

LEVELS = (48, 96, 192, 384)  # grid points a side of the surfaces, coarse to fine
SIZES = (32, 64, 128, 256, 512)  # samples a side of the slices
_WAITING = 12  # requests in line
Query = Mapping[str, Any]
Wanted = Callable[[], bool]


class ShapeRoom:
    """One shape model and everything that may be asked about it."""

    page = "shape.html"

    def __init__(self, field: Field, name: str) -> None:
        if field.signal.get("kind") != "shape" or (field.in_dim, field.out_dim) != (3, 1):
            raise UserError(f"{name} represents {field.signal.get('kind') or 'nothing yet'}, not a shape; fit a mesh")
        self.field, self.name = field, name
        self.frame = Frame.read(field.signal.get("frame"))
        self.encoding = filtered_encoding_of(field)
        self._meshes: dict[int, bytes] = {}
        self._surfaces = BoundedExecutor(1, _WAITING)  # a fine surface takes seconds
        self._quick = BoundedExecutor(1, _WAITING)  # slices and places do not wait for it

    def close(self) -> None:
        self._surfaces.close()
        self._quick.close()

    def warm_up(self) -> None:
        """Evaluate a few points: kernels are compiled before anyone waits."""
        distances_at(self.field, np.zeros((4, 3)))

    def answers(self, query: Query, is_wanted: Wanted) -> dict[str, Callable[[], Any]]:
        """What may be asked: an object, or bytes and the word that describes them."""
        return {
            "/api/about": self.about,
            "/api/mesh": lambda: self.mesh(query, is_wanted),
            "/api/slice": lambda: self.slice(query, is_wanted),
            "/api/at": lambda: self.place(query, is_wanted),
        }

    def mesh(self, query: Query, is_wanted: Wanted) -> tuple[bytes, str]:
        """The surface at one of the resolutions, looked for once."""
        level = _chosen(query, "resolution", LEVELS)
        if level not in self._meshes:
            self._surfaces.run(lambda: self._extract(level), is_wanted)
        return self._meshes[level], f"mesh {level}"

    def slice(self, query: Query, is_wanted: Wanted) -> tuple[bytes, str]:
        """The distance, and α, on a plane across an axis."""
        axis, size, at = _chosen(query, "axis", (0, 1, 2)), _chosen(query, "size", SIZES), _coordinate(query, "at")
        return self._quick.run(lambda: slice_bytes(self.field, axis, at, size), is_wanted), f"{size}x{size} f4"

    def place(self, query: Query, is_wanted: Wanted) -> dict[str, Any]:
        """Everything about the place (x, y, z)."""
        place = [_coordinate(query, name) for name in ("x", "y", "z")]
        return self._quick.run(lambda: self.at(place), is_wanted)

    def about(self) -> dict[str, Any]:
        spec = self.field.spec
        return {
            "kind": "shape",
            "name": self.name,
            "method": spec.get("method"),
            "params": parameter_count(self.field),
            "frame": self.frame.describe(),
            "levels": list(LEVELS),
            "sizes": list(SIZES),
            "alpha": None if self.encoding is None else about_alpha(self.encoding),
        }

    def at(self, place: list[float]) -> dict[str, Any]:
        """Distance, α and the filter's response at one place (x, y, z) of the domain, and where it is for the user."""
        x = np.array([place])
        distance = float(distances_at(self.field, x)[0])
        found: dict[str, Any] = {
            "place": place,
            "user": self.frame.back(x)[0].tolist(),
            "distance": distance * self.frame.scale,
        }
        if self.encoding is not None:
            with torch.inference_mode():
                alpha = self.encoding.alpha(torch.tensor([place], dtype=torch.float32))
                channels = 2 * self.encoding.in_dim * self.encoding.levels
                response = band_response(alpha, channels, self.encoding.bandwidth, self.encoding.kappa)[0]
            found |= {"alpha": float(alpha[0]), "response": response.tolist()}
        return found

    def _extract(self, level: int) -> None:
        if level not in self._meshes:
            surface = extract(lambda points: distances_at(self.field, points), level)
            self._meshes[level] = mesh_bytes(surface, alpha_at(self.encoding, surface.vertices))


def open_shape(paths: list[str], reference: str | None = None) -> ShapeRoom | None:
    """The room of a shape model's file or run folder; None when the first model is no shape."""
    file = Path(paths[0]) / "model.safetensors" if Path(paths[0]).is_dir() else Path(paths[0])
    field = load(file)
    if field.signal.get("kind") != "shape":
        return None
    if len(paths) > 1 or reference is not None:
        raise UserError(f"{paths[0]} is a shape, which is looked at alone; leave the other models and --reference out")
    return ShapeRoom(field, file.parent.name if file.name == "model.safetensors" and file.parent.name else file.stem)


def about_alpha(encoding: FilteredFourier) -> dict[str, Any]:
    """What a page must know to read α: the channel axis, and the frequencies of its scales across the domain."""
    values = encoding.alpha.values.detach() * encoding.alpha.unit
    return {
        "channels": 2 * encoding.in_dim * encoding.levels,
        "levels": encoding.levels,
        "bandwidth": encoding.bandwidth,
        "range": [float(values.min()), float(values.max())],
        "cycles": [2.0**level for level in range(encoding.levels)],
    }


def alpha_at(encoding: FilteredFourier | None, points: NDArray[Any]) -> NDArray[np.float32] | None:
    """α at points (n, 3); None for a field that has none."""
    if encoding is None:
        return None
    return distances_at(lambda x: encoding.alpha(x).unsqueeze(-1), points)


def mesh_bytes(surface: Surface, alpha: NDArray[np.float32] | None) -> bytes:
    """A surface as little-endian bytes: a head of four uint32 (1, vertices n, faces m, whether α follows), then float32
    positions (n, 3), int8 normals (n, 4) in 127ths, float32 α (n,) where there is one, uint32 faces (m, 3).

    >>> ball = extract(lambda p: np.linalg.norm(p, axis=1).astype(np.float32) - 0.5, 16)
    >>> len(mesh_bytes(ball, None)) == 16 + 16 * len(ball.vertices) + 12 * len(ball.faces)
    True
    """
    normals = np.zeros((len(surface.normals), 4), np.int8)
    normals[:, :3] = np.round(surface.normals * 127)
    parts = [struct.pack("<4I", 1, len(surface.vertices), len(surface.faces), int(alpha is not None))]
    parts += [surface.vertices.astype("<f4").tobytes(), normals.tobytes()]
    if alpha is not None:
        parts.append(alpha.astype("<f4").tobytes())
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
    """The distance on a slice, then α if the field has one: float32 (size, size) each, in the domain's units."""
    points = slice_points(axis, at, size)
    values = [distances_at(field, points)]
    alpha = alpha_at(filtered_encoding_of(field), points)
    return b"".join(part.astype("<f4").tobytes() for part in (*values, *([] if alpha is None else [alpha])))


def _chosen(query: Query, name: str, choices: tuple[int, ...]) -> int:
    text = str(query.get(name, ""))[:12]
    if text not in {str(choice) for choice in choices}:
        raise UserError(f"{name} must be one of {', '.join(map(str, choices))}, got {text!r}")
    return int(text)


def _coordinate(query: Query, name: str) -> float:
    try:
        value = float(str(query.get(name, ""))[:40])
    except ValueError:
        value = math.nan
    if not -1 <= value <= 1:
        raise UserError(f"{name} must be a number from -1 to 1, got {str(query.get(name))[:20]!r}")
    return value
