"""Shapes from files: every format by its content, clouds with normals, and everything that is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.shapes import ball, cube, trimesh

from alfilter.errors import UserError
from alfilter.signals import ShapeSignal, open_signal, read_shape
from alfilter.signals.mesh import sniff_shape


def write_cloud(path: Path, points: Any, normals: Any | None, form: str = "ascii") -> Path:
    names = ["x", "y", "z"] + (["nx", "ny", "nz"] if normals is not None else [])
    rows = np.hstack([points, normals]) if normals is not None else np.asarray(points)
    header = f"ply\nformat {form} 1.0\nelement vertex {len(rows)}\n"
    header += "".join(f"property float {name}\n" for name in names) + "end_header\n"
    body = rows.astype("<f4").tobytes() if form != "ascii" else "\n".join(" ".join(map(str, r)) for r in rows).encode()
    path.write_bytes(header.encode() + body + b"\n" * (form == "ascii"))
    return path


@pytest.mark.parametrize("form", ["ply", "ply-ascii", "obj", "stl", "stl_ascii", "off", "glb"])
def test_every_format_is_known_by_its_content(tmp_path: Path, form: str) -> None:
    body = trimesh.Trimesh(*ball(3.0, (10, 0, 0), levels=2), process=False)
    options = {"encoding": "ascii"} if form == "ply-ascii" else {}
    path = tmp_path / "no_suffix"
    data = body.export(file_type=form.removesuffix("-ascii"), **options)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    signal = open_signal(str(path))
    assert isinstance(signal, ShapeSignal)
    assert signal.diagnosis is not None
    assert signal.diagnosis.watertight
    assert signal.frame.back(signal.vertices).max(axis=0) == pytest.approx([13, 3, 3], abs=1e-3)
    assert np.abs(signal.vertices).max() == pytest.approx(0.9)


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian"])
def test_clouds_with_normals(tmp_path: Path, form: str) -> None:
    points, _ = ball(levels=3)
    signal = read_shape(write_cloud(tmp_path / "c", points, points * 2, form))
    np.savetxt(tmp_path / "c.xyz", np.hstack([points, points]))
    same = open_signal(str(tmp_path / "c.xyz"))
    assert isinstance(same, ShapeSignal)
    assert signal.describe()["form"] == same.describe()["form"] == "cloud"
    assert signal.normals == pytest.approx(same.normals, abs=1e-6)  # unit length, whatever the file says
    assert signal.distance(np.array([[0.95, 0.0, 0.0]])) == pytest.approx([0.05], abs=0.02)


def test_a_shape_is_a_signal() -> None:
    signal = ShapeSignal.from_mesh(*cube())
    assert (signal.in_dim, signal.out_dim, len(signal)) == (3, 1, 8)
    assert signal.coords(torch.tensor([0])).shape == (1, 3)
    assert signal.values().shape == (8, 1)
    assert signal.distance(np.zeros((1, 3))) == pytest.approx([-0.9])


def test_surface_points_are_uniform_by_area() -> None:
    signal = ShapeSignal.from_mesh(*cube())
    points = signal.on_surface(20_000, np.random.default_rng(0))
    assert np.abs(points).max(axis=1) == pytest.approx(np.full(20_000, 0.9))
    assert points.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.02)
    assert (points[:, 0] > 0.899).mean() == pytest.approx(1 / 6, abs=0.01)


def test_what_is_refused(tmp_path: Path) -> None:
    points, _ = ball(levels=1)
    path = tmp_path / "f"
    bad = points.copy()
    bad[2] = 0
    np.savetxt(tmp_path / "few", np.ones((3, 6)))
    np.savetxt(tmp_path / "zero", np.hstack([points, bad]))
    (tmp_path / "ragged").write_text("0 0 0 1 0 0\n" * 20 + "1 2 3\n")
    write_cloud(tmp_path / "bare", points, None)
    (tmp_path / "cut").write_bytes(trimesh.Trimesh(*cube()).export(file_type="ply")[:-40])
    (tmp_path / "empty.ply").write_text("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
                                        "property float z\nend_header\n")  # fmt: skip
    (tmp_path / "nan.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    cases = {
        "few": "at least 16 points",
        "zero": "1 are NaN, infinite or of length zero, the first is 2",
        "ragged": "cannot read",
        "bare": "42 points but no faces and no normals",
        "cut": "cannot read",
        "empty.ply": "holds no faces and no points|cannot read|0 vertices",
        "nan.obj": "1 NaN or infinite",
    }
    for name, message in cases.items():
        with pytest.raises(UserError, match=message):
            open_signal(str(tmp_path / name))
    path.write_text("hello")
    with pytest.raises(UserError, match="expected PLY, OBJ"):
        read_shape(path)


@pytest.mark.parametrize("start", [b"", b"hello", b"1,2,3\n", b"a b c\n", b"\x89PNG", bytes(200), b"1 2 3\n4 5 6\n"])
def test_what_is_no_shape(start: bytes) -> None:
    assert sniff_shape(start) is None


@pytest.mark.filterwarnings("error")
def test_a_signalling_nan_is_refused_without_a_warning(tmp_path: Path) -> None:
    data = bytearray(trimesh.creation.icosphere(subdivisions=1).export(file_type="ply"))
    first = data.index(b"end_header\n") + len(b"end_header\n")
    data[first : first + 4] = bytes.fromhex("0000a07f")  # turning it into a float64 raises numpy's invalid flag
    (tmp_path / "ball.ply").write_bytes(data)
    with pytest.raises(UserError, match="got 1 NaN or infinite"):
        read_shape(tmp_path / "ball.ply")


def test_points_without_normals_are_named(tmp_path: Path) -> None:
    (tmp_path / "cloud.xyz").write_text("# scan\n0 0 1\n0.5 1e-3 -2\n")
    with pytest.raises(UserError, match="holds points without normals, of which no inside can be told; give lines x y"):
        open_signal(str(tmp_path / "cloud.xyz"))
