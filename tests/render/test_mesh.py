"""Shapes on the command line: fit, resume, mesh, eval, and every mistake in one line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.support.commands import alfilter, complaint, picture, without_figures
from tests.support.shapes import ball, coarse_scores, cube, trimesh

from alfilter.errors import UserError
from alfilter.evaluate import surface_of
from alfilter.geometry.distance import nearest_points
from alfilter.geometry.strays import Clearance, bodies
from alfilter.methods import build
from alfilter.render.mesh import check_resolution
from alfilter.training import save

SMALL = (
    "--method",
    "al-sine",
    "--set",
    "width=16",
    "--set",
    "depth=1",
    "--set",
    "levels=3",
    "--set",
    "grid=4",
    "--threads",
    "1",
)
SHORT = ("--steps", "120", "--train", "batch=256", "--train", "lr=5e-3")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ball of radius 3 around (10, 0, 0), and figures that cost nothing."""
    monkeypatch.chdir(tmp_path)
    without_figures(monkeypatch)
    coarse_scores(monkeypatch)
    monkeypatch.setattr(
        "alfilter.render.run.shape.slice_figure", lambda *arguments: (tmp_path / "dot.png").read_bytes()
    )
    monkeypatch.setattr(
        "alfilter.render.run.shape.detail_figure", lambda *arguments: (tmp_path / "dot.png").read_bytes()
    )
    monkeypatch.setattr("alfilter.render.run.shape._SPLATS", 2000)
    monkeypatch.setattr("alfilter.tasks.sdf.SdfTask.__init__.__kwdefaults__", {"block": 1024, "reuse": 4, "window": 2})
    picture(tmp_path / "dot.png")
    trimesh.Trimesh(*ball(3.0, (10, 0, 0), levels=3)).export(tmp_path / "ball.ply")
    return tmp_path


def test_from_a_mesh_to_a_mesh(home: Path) -> None:
    code, out, err = alfilter("fit", "ball.ply", *SMALL, *SHORT, "--out", "run", "--json")
    assert code == 0, err
    assert "mesh: 1,280 faces, 642 vertices, 1 component, watertight" in err
    line = json.loads(out)
    assert {"iou", "sdf_near", "sdf_far"} <= set(line["metrics"])
    assert json.loads((home / "run/config.json").read_text())["preset"] == "default-shape"
    assert (home / "run/report.html").exists()
    assert (home / "run/reference.png").exists()
    assert (home / "run/alpha.png").exists()

    model = "run/model.safetensors"
    for form in ("ply", "obj", "stl", "glb"):
        colour = ["--alpha"] if form != "stl" else []
        code, out, err = alfilter("mesh", model, f"out.{form}", "--resolution", "40", "--json", *colour)
        assert code == 0, err
        result = json.loads(out)
        back = trimesh.load(f"out.{form}", process=False, force="mesh")
        assert len(back.faces) == result["faces"] > 0
        assert ("cut_off" in result) == (form != "stl")
        assert abs(back.bounds.mean(axis=0)[0] - 10) < 3.5  # in the user's units again
    code, out, err = alfilter("mesh", model, "out.ply", "--resolution", "24")
    assert (code, "of the grid" in out) == (0, True), err
    code, out, err = alfilter("eval", model, "ball.ply", "--json")
    assert code == 0, err
    assert json.loads(out)["metrics"]["chamfer_floor"] > 0
    assert "holds image" in complaint("eval", model, "dot.png")
    assert "not a picture" in complaint("render", model, "x.png")


def test_a_stopped_run_goes_on_to_the_same_bytes(home: Path) -> None:
    from alfilter.runs import FitRequest, run

    whole = FitRequest("ball.ply", "al-sine", options={"width": 8, "depth": 1, "levels": 2, "grid": 3},
                  training={"steps": 40, "batch": 256}, out="whole", checkpoint_every=0.0)  # fmt: skip
    run(whole)
    seen: list[int] = []
    halves = FitRequest(**{**whole.__dict__, "out": "halves"})
    line = run(halves, on_progress=lambda p: seen.append(p.step), should_stop=lambda: len(seen) >= 17)
    assert not line["finished"]
    assert run(FitRequest(**{**halves.__dict__, "resume": True}))["finished"]
    assert (home / "whole/model.safetensors").read_bytes() == (home / "halves/model.safetensors").read_bytes()


def test_mistakes(home: Path) -> None:
    vertices, faces = cube()
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    trimesh.Trimesh(square, [[0, 1, 2], [0, 2, 3]], process=False).export("plane.ply")
    trimesh.Trimesh(vertices * [1, 0, 0], faces, process=False).export("line.ply")
    Path("empty.obj").write_text("# obj\nv 0 0 0\n")
    Path("nan.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    Path("bare.ply").write_text("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
                                "property float z\nend_header\n0 0 0\n")  # fmt: skip
    fit = ("fit", *SMALL, *SHORT, "--out", "run")
    assert "encloses nothing" in complaint(*fit, "plane.ply")
    assert "no face of line.ply has an area" in complaint(*fit, "line.ply")
    assert "empty.obj" in complaint(*fit, "empty.obj")
    assert "NaN or infinite" in complaint(*fit, "nan.obj")
    assert "no faces and no normals" in complaint(*fit, "bare.ply")
    assert "is for pictures" in complaint(*fit, "ball.ply", "--observe", "every:2")
    assert not Path("run").exists()

    image = build("siren", in_dim=2, out_dim=3, width=8, depth=1)
    image.signal = {"kind": "image", "shape": [4, 4], "channels": 3, "bits": 8, "observe": "all", "observe_seed": 0,
                    "low": 0.0, "high": 255.0}  # fmt: skip
    save(image, "image.safetensors")
    assert "represents image, not a shape" in complaint("mesh", "image.safetensors", "out.ply")
    shape = build("siren", in_dim=3, out_dim=1, width=8, depth=1)
    shape.signal = {"kind": "shape", "frame": {"offset": [0, 0, 0], "scale": 1.0}}
    save(shape, "shape.safetensors")
    assert "ends in .ply, .obj, .stl, .glb, got 'out.png'" in complaint("mesh", "shape.safetensors", "out.png")
    assert "cannot write" in complaint("mesh", "shape.safetensors", "none/out.ply", "--resolution", "16")
    assert "between 8 and 8192, got 4" in complaint("mesh", "shape.safetensors", "out.ply", "--resolution", "4")
    assert "GB are free" in complaint("mesh", "shape.safetensors", "out.ply", "--resolution", "8192")
    assert "siren has no α" in complaint("mesh", "shape.safetensors", "out.ply", "--alpha")
    assert "no filter" in complaint("mesh", "shape.safetensors", "out.ply", "--detail", "8")
    assert "STL holds no colours" in complaint("mesh", "shape.safetensors", "out.stl", "--alpha")
    shape.signal = {"kind": "shape"}
    save(shape, "lost.safetensors")
    assert "where its shape stands" in complaint("mesh", "lost.safetensors", "out.ply")
    assert not list(Path().glob("out.*"))
    assert not list(Path().glob(".out*"))


def normal_energy(mesh: Any) -> float:
    """∑ |n_i - n_j|² over the edges of a mesh: how much its surface turns."""
    normals = mesh.face_normals[mesh.face_adjacency]
    return float(((normals[:, 0] - normals[:, 1]) ** 2).sum())


def test_less_detail_is_a_smoother_surface(home: Path) -> None:
    """A ball with a fine relief: α passes it, and every cap takes more of it away."""
    body = trimesh.Trimesh(*ball(levels=5))
    relief = 1 + 0.06 * np.sin(14 * body.vertices).prod(axis=1, keepdims=True)
    trimesh.Trimesh(body.vertices * relief, body.faces).export("rough.ply")
    sizes = [word for size in ("levels=5", "finest=64", "base=4", "table=14", "grid=6") for word in ("--set", size)]
    code, _, err = alfilter("fit", "rough.ply", *sizes, "--steps", "250", "--train", "batch=1024", "--threads", "1",
                            "--out", "run")  # fmt: skip
    assert code == 0, err
    energies = []
    for detail in (32, 8, 4, 2):
        out = f"{detail}.ply"
        code, _, err = alfilter("mesh", "run/model.safetensors", out, "--resolution", "64", "--detail", str(detail))
        assert code == 0, err
        energies.append(normal_energy(trimesh.load(out)))
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] < 0.5 * energies[0]
    code, out, _ = alfilter("mesh", "run/model.safetensors", "all.ply", "--resolution", "64", "--json")
    assert (code, json.loads(out)["strays"]) == (0, 0)
    assert Path("all.ply").read_bytes() == Path("32.ply").read_bytes()  # the finest level's own frequency caps nothing
    assert "frequency above 0" in complaint("mesh", "run/model.safetensors", "out.ply", "--detail", "0")


def test_stray_bodies_are_left_out_by_what_the_model_keeps(home: Path) -> None:
    """A field that was never trained has many bodies; its file says that the shape is the largest of them."""
    field = build("siren", in_dim=3, out_dim=1, width=16, depth=2, omega=25.0, seed=1)
    whole = surface_of(field, 48)
    body = bodies(whole.vertices, whole.faces)
    main = whole.vertices[body == np.bincount(body).argmax()]
    clearance = Clearance.measure(lambda points: np.maximum(nearest_points(points, main, 1)[0][:, 0] - 0.05, 0.0))
    frame = {"offset": [0, 0, 0], "scale": 1.0}
    field.signal = {"kind": "shape", "frame": frame}
    save(field, "plain.safetensors")
    field.signal = {"kind": "shape", "frame": frame, "clearance": clearance.describe()}
    save(field, "known.safetensors")
    sizes = {}
    for name in ("plain", "known"):
        code, out, err = alfilter("mesh", f"{name}.safetensors", f"{name}.ply", "--resolution", "48", "--json")
        assert code == 0, err
        sizes[name] = json.loads(out)
    assert sizes["plain"]["strays"] == 0 < sizes["known"]["strays"] < body.max() + 1
    assert len(main) <= sizes["known"]["vertices"] < sizes["plain"]["vertices"] == len(whole.vertices)
    code, out, _ = alfilter("mesh", "known.safetensors", "out.ply", "--resolution", "48")
    assert f"stray bodies left out: {sizes['known']['strays']}" in out
    code, out, _ = alfilter("info", "known.safetensors")
    assert (code, max(map(len, out.splitlines())) < 160) == (0, True)
    field.signal["clearance"] = {"nodes": 32}
    save(field, "damaged.safetensors")
    assert "distances of its shape are damaged" in complaint("mesh", "damaged.safetensors", "out.ply")


def test_self_intersections_are_fitted_and_said(home: Path) -> None:
    bodies = [trimesh.Trimesh(*ball(1.0, (x, 0, 0), levels=2)) for x in (0.0, 1.0)]
    trimesh.util.concatenate(bodies).export("two.ply")
    code, _, err = alfilter("fit", "two.ply", *SMALL, *SHORT, "--out", "run")
    assert code == 0, err
    assert "self-intersection" in err
    assert "2 components" in err


def test_memory_is_asked_for_before_the_work() -> None:
    check_resolution(64)
    with pytest.raises(UserError, match=r"needs about \d+\.\d GB"):
        check_resolution(8192)


def test_large_files_are_announced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from alfilter.tasks import SdfTask, open_task

    monkeypatch.setattr("alfilter.signals.mesh.LARGE", 1000)
    monkeypatch.setattr("alfilter.geometry.repair.MANY", 1000)
    monkeypatch.setattr("alfilter.tasks.sdf.MANY", 1000)
    lines: list[str] = []
    task = open_task("ball.ply", say=lines.append)
    assert lines[:2] == ["reading ball.ply, 0 MB", "1,280 faces: looking for duplicates"]
    assert isinstance(task, SdfTask)
    assert task.distance(np.zeros((1, 3)))[0] == pytest.approx(-0.9, abs=0.01)
    distance = task.signal._distance
    assert distance is not None
    assert distance.search is not None, "a closed mesh is searched by compiled code"
    assert (distance._aabb, distance._winding) == (None, None), "libigl's trees over many faces are not made here"


def test_the_colours_of_a_mesh_are_cut_offs_on_the_scale_of_the_report(tmp_path: Path) -> None:
    """Four levels of 4 to 32 cells carry 2 to 16 cycles; α grows along the first axis."""
    from alfilter.analysis import cut_offs_at, filter_of
    from alfilter.render.mesh import _cut_off_colours

    field = build("al-grid", in_dim=3, out_dim=1, levels=4, base=4, finest=32, grid=5)
    encoding: Any = filter_of(field)
    with torch.no_grad():
        ramp = torch.linspace(0, 3, 5) / encoding.alpha.unit
        encoding.alpha.values.copy_(ramp.view(5, 1, 1, 1).expand(5, 5, 5, 1))
    around = surface_of(lambda x: x.norm(dim=-1, keepdim=True) - 0.9, 24)
    colours, (low, high) = _cut_off_colours(field, around)
    cycles = cut_offs_at(encoding, around.vertices)
    assert (low, high) == pytest.approx(np.percentile(cycles, (1, 99)), rel=1e-5)
    assert 2 < low < 3
    assert 12 < high < 16
    middle = np.abs(np.log(cycles / np.sqrt(low * high))).argmin()  # half-way in octaves, not in cycles
    assert np.abs(colours[middle, :3].astype(int) - (33, 144, 140)).max() < 12  # viridis at one half


def test_alpha_on_the_surface_and_in_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    from alfilter.analysis import filtered_encoding_of
    from alfilter.render.run.shape import detail_figure

    monkeypatch.setattr("alfilter.render.run.shape._SPLATS", 2000)
    encoding = filtered_encoding_of(build("al-sine", in_dim=3, out_dim=1, width=8, depth=1, levels=3, grid=4))
    assert encoding is not None
    with torch.no_grad():
        encoding.alpha.values.copy_(torch.linspace(0, 8, 4).view(4, 1, 1, 1).expand(4, 4, 4, 1))
    around = surface_of(lambda x: x.norm(dim=-1, keepdim=True) - 0.7, 24)
    figures = [detail_figure(encoding, surface) for surface in (None, around)]
    assert all(figure.startswith(b"\x89PNG") for figure in figures)
    shown = np.asarray(Image.open(io.BytesIO(figures[1])).convert("RGB")).astype(int)
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 500


def test_the_view_shows_the_nearer_surface() -> None:
    from alfilter.geometry.repair import Triangles
    from alfilter.render.run.shape import view

    shown = view(Triangles(*ball(0.5, levels=3)), size=60)
    assert shown.shape == (60, 60, 3)
    assert (shown[0] == 1).all()
    assert shown[25:35, 25:35].max() < 0.9
    assert np.isfinite(shown).all()
