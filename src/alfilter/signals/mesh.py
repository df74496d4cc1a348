"""Shapes as signals: triangle meshes and oriented point clouds, read by content and brought into the domain."""

from __future__ import annotations

import io
import json
import logging
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.errors import UserError, need
from alfilter.geometry import Diagnosis, Frame, Triangles, repair_mesh
from alfilter.geometry.distance import MeshDistance, cloud_distance
from alfilter.geometry.points import Array
from alfilter.geometry.repair import face_areas
from alfilter.signals.file_checks import check_memory, head
from alfilter.signals.signal import Signal

Say = Callable[[str], None]

HEAD = 512  # bytes that tell what a shape's file is
LARGE = 1 << 25  # bytes of a file whose reading is announced
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}  # of a GLB's tables
_FEWEST = 16  # points of a cloud


@final
class ShapeSignal(Signal):
    """A closed surface in the domain [-1, 1]³ whose value anywhere is its signed distance in the domain's units.

    frame: the map between the domain and the user's units. faces: (m, 3), or None for a cloud, whose distance is
    the source's point-to-plane one. normals: (n, 3) of a cloud.
    coords and values of the signal itself are its vertices and zeros.
    """

    kind = "shape"

    def __init__(
        self,
        vertices: Array,
        frame: Frame,
        *,
        faces: NDArray[np.int64] | None = None,
        normals: Array | None = None,
        diagnosis: Diagnosis | None = None,
    ) -> None:
        if (faces is None) == (normals is None):
            raise ValueError("a shape has either faces or the normals of its points")
        self.vertices, self.faces, self.normals = vertices, faces, normals
        self.frame, self.diagnosis = frame, diagnosis
        self._distance = None if faces is None else MeshDistance(vertices, faces)
        held = [vertices, faces if faces is not None else normals]
        digest = sha256()
        for part in held:
            digest.update(np.ascontiguousarray(part).data)
        self._digest = digest.hexdigest()
        if faces is not None:
            area = face_areas(vertices, faces)
            self._areas = np.cumsum(area) / area.sum()

    @classmethod
    def from_mesh(
        cls, vertices: NDArray[Any], faces: NDArray[Any], name: str = "the mesh", say: Say = lambda line: None
    ) -> ShapeSignal:
        """A mesh in the user's units, repaired and normalised. say: called with the progress on a large one."""
        repaired, diagnosis = repair_mesh(vertices, faces, name, say)
        frame = Frame.around(repaired.vertices)
        inside = np.ascontiguousarray(frame.into(repaired.vertices))
        return cls(inside, frame, faces=repaired.faces, diagnosis=diagnosis)

    @classmethod
    def from_cloud(cls, points: NDArray[Any], normals: NDArray[Any], name: str = "the cloud") -> ShapeSignal:
        """Points and their outward normals in the user's units, normalised."""
        places, arrows = (np.asarray(part, dtype=np.float64).reshape(-1, 3) for part in (points, normals))
        if len(places) < _FEWEST or len(arrows) != len(places):
            raise UserError(f"expected at least {_FEWEST} points with normals, got {len(places)} in {name}; give more")
        length = np.linalg.norm(arrows, axis=1)
        bad = ~np.isfinite(places).all(axis=1) | ~np.isfinite(length) | (length == 0)
        if bad.any():
            raise UserError(
                f"expected finite points and normals in {name}, {int(bad.sum())} are NaN, infinite or of length zero, "
                f"the first is {int(bad.argmax())}; drop them"
            )
        frame = Frame.around(places)
        return cls(np.ascontiguousarray(frame.into(places)), frame, normals=arrows / length[:, None])

    @property
    def in_dim(self) -> int:
        return 3

    @property
    def out_dim(self) -> int:
        return 1

    @property
    def triangles(self) -> Triangles | None:
        """The mesh in the domain; None for a cloud."""
        return None if self.faces is None else Triangles(self.vertices, self.faces)

    def __len__(self) -> int:
        return len(self.vertices)

    def coords(self, index: Tensor | None = None) -> Tensor:
        return torch.from_numpy((self.vertices if index is None else self.vertices[index.numpy()]).astype(np.float32))

    def values(self, index: Tensor | None = None) -> Tensor:
        return torch.zeros(len(self) if index is None else len(index), 1)

    def distance(self, points: Array, shared: bool = True) -> Array:
        """Signed distance (n,) of points (n, 3), all in the domain's units. shared: among all cores where it can be."""
        if self._distance is not None:
            return self._distance.signed(points, shared)
        assert self.normals is not None
        return cloud_distance(points, self.vertices, self.normals)

    def holds_gil(self) -> bool:
        """Whether no other thread runs Python while distances are computed: with libigl. The first call may compile."""
        return self._distance is not None and self._distance.search is None

    def on_surface(self, count: int, rng: np.random.Generator) -> Array:
        """Points (count, 3) of the surface: uniform by area on faces, or drawn from the cloud."""
        if self.faces is None:
            return self.vertices[rng.integers(len(self.vertices), size=count)]
        return sample_faces(self.vertices, self.faces, self._areas, count, rng)[0]

    def describe(self) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "kind": self.kind,
            "form": "cloud" if self.faces is None else "mesh",
            "vertices": len(self.vertices),
            "faces": 0 if self.faces is None else len(self.faces),
            "sha256": self._digest,
            "frame": self.frame.describe(),
        }
        return facts


def sample_faces(
    vertices: Array, faces: NDArray[np.int64], areas: Array, count: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """Points (count, 3) uniform by area, and their faces. areas: cumulated shares, the last is 1."""
    face = np.minimum(np.searchsorted(areas, rng.random(count), side="right"), len(faces) - 1)
    u, v = np.sqrt(rng.random(count)), rng.random(count)
    a, b, c = (vertices[faces[face, k]] for k in range(3))
    return (1 - u)[:, None] * a + (u * (1 - v))[:, None] * b + (u * v)[:, None] * c, face


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def sniff_shape(start: bytes) -> str | None:
    """The format that the first bytes belong to: ply, off, glb, stl, obj, xyz; None when they are none of these.

    >>> sniff_shape(b"ply\\nformat ascii 1.0"), sniff_shape(b"# made by hand\\nv 0 0 1\\n"), sniff_shape(b"hello")
    ('ply', 'obj', None)
    """
    if start.startswith((b"ply\n", b"ply\r")):
        return "ply"
    if start.startswith(b"glTF"):
        return "glb"
    if start[:5].upper().startswith((b"OFF", b"COFF", b"NOFF")):
        return "off"
    if start.lstrip()[:6].lower().startswith(b"solid ") and b"facet" in start:
        return "stl"
    return _sniff_text(start) if _is_text(start) else ("stl" if _is_binary_stl(start) else None)


def read_shape(path: str | Path, say: Say = lambda line: None) -> ShapeSignal:
    """The mesh, or the oriented cloud, in a PLY, OBJ, STL, OFF, GLB or XYZ file.

    say: called with the progress on a large one.
    """
    file = Path(path)
    if (size := file.stat().st_size if file.is_file() else 0) > LARGE:
        say(f"reading {file.name}, {size / 1e6:,.0f} MB")
    check_memory(file, 3 * size)
    form = sniff_shape(head(file, HEAD))
    if form is None:
        raise UserError(f"expected PLY, OBJ, STL, OFF, GLB or XYZ content in {file}; convert it")
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers are found and reported below
        return _read(file, form, say)


def _read(file: Path, form: str, say: Say) -> ShapeSignal:
    try:
        if form == "xyz":
            return _from_table(file)
        body = _load(file, form)
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(f"cannot read {file}: it does not fit in memory; simplify it first") from error
    except Exception as error:  # damaged bytes make readers fail in every way there is
        reason = (" ".join(str(error).split()) or type(error).__name__)[:160]
        raise UserError(f"cannot read {file} as {form.upper()}: {reason}; it is damaged, get it again") from error
    return _from_body(file, body, say)


def _load(file: Path, form: str) -> Any:
    trimesh = need("trimesh")
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)
    data = file.read_bytes()
    if form == "glb":
        check_glb(data)
    body = trimesh.load(io.BytesIO(data), file_type=form, process=False, skip_materials=True)
    if not isinstance(body, trimesh.Scene):
        return body
    parts = [body.geometry[body.graph[node][1]] for node in body.graph.nodes_geometry]
    check_memory(file, 256 * sum(len(part.vertices) + len(getattr(part, "faces", ())) for part in parts))
    return body.to_mesh()  # parts of a scene are placed, then joined


def check_glb(data: bytes) -> None:
    """Refuse a GLB whose numbers would take more memory than its file: each is stored, none is made up.

    The format lets a table of numbers (an accessor) be zeros of any count without a single stored byte.
    """
    length, kind = struct.unpack_from("<I4s", data, 12)
    if kind != b"JSON" or 20 + length > len(data):
        raise ValueError("its description is cut short")
    header = json.loads(data[20 : 20 + length])
    accessors = header.get("accessors", [])
    numbers = sum(int(accessor["count"]) * _COMPONENTS.get(accessor.get("type"), 16) for accessor in accessors)
    if numbers > 8 * len(data):  # some are a byte long, and several tables may share their bytes
        raise ValueError(f"{len(data):,} bytes cannot hold {numbers:,} numbers")


def _from_body(file: Path, body: Any, say: Say) -> ShapeSignal:
    vertices = np.asarray(getattr(body, "vertices", np.empty((0, 3))), dtype=np.float64)
    faces = np.asarray(getattr(body, "faces", np.empty((0, 3))))
    if len(faces):
        return ShapeSignal.from_mesh(vertices, faces, str(file), say)
    normals = _stored_normals(body)
    if len(vertices) and normals is None and b"element tristrips" in head(file, HEAD):
        raise UserError(f"{file} holds its faces as triangle strips, which are not read; save it with plain faces")
    if len(vertices) and normals is None:
        raise UserError(f"{file} has {len(vertices):,} points but no faces and no normals; give one or the other")
    if normals is None:
        raise UserError(f"{file} holds no faces and no points; give a mesh")
    return ShapeSignal.from_cloud(vertices, normals, str(file))


def _stored_normals(body: Any) -> NDArray[Any] | None:
    """Normals of a PLY's points, as they stand in the file."""
    raw = getattr(body, "metadata", {}).get("_ply_raw", {}).get("vertex", {}).get("data")
    try:
        return np.stack([np.asarray(raw[name]).reshape(-1) for name in ("nx", "ny", "nz")], axis=1)
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def _from_table(file: Path) -> ShapeSignal:
    """x y z nx ny nz a line."""
    rows = np.loadtxt(file, dtype=np.float64, ndmin=2, comments="#")
    if rows.shape[1] != 6:
        raise UserError(f"expected 6 numbers per line (x y z nx ny nz) in {file}, got {rows.shape[1]}; add the normals")
    return ShapeSignal.from_cloud(rows[:, :3], rows[:, 3:], str(file))


def _sniff_text(start: bytes) -> str | None:
    """OBJ by its first statement, XYZ by six numbers per line separated by blanks."""
    lines = _lines(start)
    words = [line for line in lines if line and not line[0].startswith("#")]
    if not words:
        return "obj" if lines and start.startswith(b"#") and b"obj" in start.lower() else None
    first = words[0]
    if first[0] in ("v", "vn", "vt", "mtllib", "usemtl", "o", "g", "s", "f") and len(first) > 1:
        return "obj"
    return "xyz" if len(first) == 6 and all(_is_number(word) for line in words for word in line) else None


def _lines(start: bytes) -> list[list[str]]:
    text = start.decode("ascii", "replace")
    whole = text.splitlines()[:-1] if len(start) >= HEAD else text.splitlines()  # the last one may be cut off
    return [line.split() for line in whole]


def is_bare_cloud(start: bytes) -> bool:
    """Whether the lines of a file begin with three numbers each and no more: points without normals.

    >>> is_bare_cloud(b"0 0 1\\n1 0.5 0\\n"), is_bare_cloud(b"0 0 1 0 0 1\\n")
    (True, False)
    """
    words = [line for line in _lines(start) if line and not line[0].startswith("#")] if _is_text(start) else []
    return bool(words) and all(len(line) == 3 and all(map(_is_number, line)) for line in words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_text(start: bytes) -> bool:
    return all(byte >= 32 or byte in b"\t\r\n" for byte in start)


def _is_binary_stl(start: bytes) -> bool:
    """80 bytes of anything, a count, then facets whose normal is a unit vector or zero."""
    if len(start) < 134:
        return False
    (count,) = struct.unpack("<I", start[80:84])
    x, y, z, *corners = struct.unpack("<12f", start[84:132])
    unit = abs(x * x + y * y + z * z - 1) < 1e-2 or (x, y, z) == (0.0, 0.0, 0.0)
    return count > 0 and unit and bool(np.isfinite(corners).all())
