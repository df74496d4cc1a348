"""Each defect is counted, said, and repaired where it can be; what encloses nothing is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.data import shared_data
from tests.support.shapes import Array, ball, cube, trimesh, union

from alfilter.errors import UserError
from alfilter.geometry import repair_mesh, signed_distance
from alfilter.geometry.repair import signed_volume


def test_a_clean_body_is_left_alone() -> None:
    vertices, faces = cube()
    repaired, diagnosis = repair_mesh(vertices, faces)
    assert (repaired.vertices == vertices).all()
    assert (repaired.faces == faces).all()
    assert diagnosis.lines() == ["mesh: 12 faces, 8 vertices, 1 component, watertight"]
    assert signed_volume(vertices, faces) == pytest.approx(8)


def test_soup_is_merged_and_leftovers_are_dropped() -> None:
    vertices, faces = cube()
    soup = np.concatenate([vertices[faces].reshape(-1, 3), [[9.0, 9, 9]]])
    corners = np.concatenate([np.arange(36).reshape(-1, 3), [[0, 0, 1], [0, 1, 2]]])
    repaired, diagnosis = repair_mesh(soup, corners)
    assert (diagnosis.duplicate_vertices, diagnosis.unused_vertices) == (28, 1)
    assert (diagnosis.degenerate_faces, diagnosis.duplicate_faces) == (1, 1)
    assert diagnosis.watertight
    assert len(repaired.vertices) == 8
    assert "28 duplicate vertices: merged" in diagnosis.lines()


def test_inverted_and_mixed_winding() -> None:
    vertices, faces = ball(levels=2)
    repaired, diagnosis = repair_mesh(vertices, np.ascontiguousarray(faces[:, ::-1]))
    assert diagnosis.inverted
    assert signed_volume(repaired.vertices, repaired.faces) > 0
    flips = np.random.default_rng(0).random(len(faces)) < 0.3
    repaired, diagnosis = repair_mesh(vertices, np.where(flips[:, None], faces[:, ::-1], faces))
    assert diagnosis.mixed_edges > 0
    assert signed_volume(repaired.vertices, repaired.faces) == pytest.approx(signed_volume(vertices, faces))


def test_a_cavity_stays_hollow() -> None:
    inner, turned = ball(0.5, levels=2)
    repaired, diagnosis = repair_mesh(*union(ball(levels=2), (inner, np.ascontiguousarray(turned[:, ::-1]))))
    assert diagnosis.components == 2
    assert signed_distance(np.array([[0.0, 0, 0], [0.75, 0, 0]]), repaired.vertices, repaired.faces)[0] > 0
    assert signed_distance(np.array([[0.75, 0.0, 0]]), repaired.vertices, repaired.faces)[0] < 0


def test_a_hole_is_said_and_closed() -> None:
    vertices, faces = ball(levels=3)
    _, diagnosis = repair_mesh(vertices, faces[5:])
    assert not diagnosis.watertight
    assert any("open edges" in line for line in diagnosis.lines())


def test_overlapping_bodies_are_said() -> None:
    _, diagnosis = repair_mesh(*union(ball(levels=3), ball(centre=(1.0, 0, 0), levels=3)))
    assert diagnosis.buried == pytest.approx(0.25, abs=0.03)  # each cap beyond the middle plane, h = r/2
    assert any("self-intersection" in line for line in diagnosis.lines())


def plane() -> tuple[Array, Array]:
    body = trimesh.creation.box(extents=(2, 2, 2)).subdivide()
    top = np.isclose(body.triangles_center[:, 2], 1)
    return np.asarray(body.vertices), np.asarray(body.faces)[top]


def test_what_is_refused() -> None:
    vertices, faces = cube()
    nan = vertices.copy()
    nan[3, 1] = np.nan
    cases = {
        "0 vertices and 0 faces": (np.empty((0, 3)), np.empty((0, 3))),
        "8 vertices and 0 faces": (vertices, np.empty((0, 3))),
        "1 NaN or infinite, the first is 3": (nan, faces),
        "encloses nothing": plane(),
        "has an area": (vertices * [1, 0, 0], faces),
        "names vertex 99": (vertices, faces + 92),
        "triangulate it": (vertices, np.zeros((2, 4))),
    }
    for messages, (points, corners) in cases.items():
        with pytest.raises(UserError, match=messages):
            repair_mesh(points, corners)


@pytest.mark.parametrize("name", ["armadillo.obj", "dragon_xyzrgb.ply"])
def test_scans_are_watertight(name: str) -> None:
    body = trimesh.load(shared_data("meshes", name), process=False)
    _, diagnosis = repair_mesh(body.vertices, body.faces)
    assert diagnosis.watertight
    assert not diagnosis.inverted


def test_large_meshes_are_announced_and_counted_like_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    vertices, faces = union(ball(levels=3), ball(0.5, (3, 0, 0), levels=2), cube(0.1))
    messages: list[str] = []
    monkeypatch.setattr("alfilter.geometry.repair._ROWS", 100)  # several rounds of everything
    small, diagnosis = repair_mesh(vertices, faces, say=messages.append)
    assert messages == []
    monkeypatch.setattr("alfilter.geometry.repair.MANY", 1000)
    large, again = repair_mesh(vertices, faces, say=messages.append)
    assert messages == ["1,612 faces: looking for duplicates", "looking at edges and winding", "looking for the inside"]
    assert diagnosis == again
    assert diagnosis.components == 3
    assert np.array_equal(small.faces, large.faces)
    volume = trimesh.Trimesh(vertices, faces, process=False).volume
    assert signed_volume(vertices, faces) == pytest.approx(volume, rel=1e-12)


def test_edges_are_counted_like_trimesh_does() -> None:
    vertices, faces = ball(levels=2)
    rng = np.random.default_rng(0)
    faces = faces[rng.random(len(faces)) > 0.1]
    faces = np.where(rng.random(len(faces))[:, None] < 0.2, faces[:, ::-1], faces)
    body = trimesh.Trimesh(vertices, faces, process=False)
    _, counts = np.unique(body.edges_sorted, axis=0, return_counts=True)
    directed, twice = np.unique(body.edges, axis=0, return_counts=True)
    _, diagnosis = repair_mesh(vertices, faces)
    assert diagnosis.open_edges == (counts == 1).sum()
    assert diagnosis.mixed_edges == (twice == 2).sum()
    assert len(directed) < len(body.edges)


def test_what_does_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.geometry.repair.free_memory", lambda: 5000)
    with pytest.raises(UserError, match=r"12 faces in the mesh need about 0.0 GB, 0.0 GB are free; simplify it first"):
        repair_mesh(*cube())
