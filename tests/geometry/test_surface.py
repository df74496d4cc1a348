"""Coarse to fine finds what looking everywhere finds, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from skimage.measure import marching_cubes
from tests.support.data import shared_data
from tests.support.shapes import Array, box_sdf, shell_sdf, sphere_sdf, torus_sdf, trimesh, two_sdf

from alfilter.errors import UserError
from alfilter.geometry.distance import signed_distance
from alfilter.geometry.frame import Frame
from alfilter.geometry.repair import repair_mesh, signed_volume
from alfilter.geometry.surface import extract, memory_needed

Body = Callable[[Array], Array]


def field(body: Body) -> Any:
    return lambda points: body(points.astype(np.float64)).astype(np.float32)


def same(one: Any, other: Any) -> bool:
    return np.array_equal(one.vertices, other.vertices) and np.array_equal(one.faces, other.faces)


CASES = [
    (sphere_sdf, 64),
    (box_sdf, 64),
    (torus_sdf, 75),
    (shell_sdf, 64),
    (two_sdf, 64),
    (shell_sdf, 96),
    (two_sdf, 100),
]


@pytest.mark.parametrize(("body", "resolution"), CASES, ids=lambda case: getattr(case, "__name__", str(case)))
def test_exactly_the_dense_surface(body: Body, resolution: int) -> None:
    sparse, dense = extract(field(body), resolution), extract(field(body), resolution, dense=True)
    assert same(sparse, dense)
    assert dense.evaluated >= resolution**3
    assert sparse.share < 0.45
    axis = (2 * np.arange(resolution) - (resolution - 1)) / (resolution - 1)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3).astype(np.float32)
    vertices, faces, _, _ = marching_cubes(field(body)(grid).reshape((resolution,) * 3), 0.0)
    assert (len(sparse.vertices), len(sparse.faces)) == (len(vertices), len(faces))
    places = np.sort(vertices.round(3), axis=0) / (resolution - 1) * 2 - 1
    assert np.sort(sparse.vertices, axis=0) == pytest.approx(places, abs=1e-4)


def test_vertices_stand_where_the_surface_is_and_faces_look_outwards() -> None:
    ball = extract(field(sphere_sdf), 80)
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(np.full(len(ball.vertices), 0.6), abs=4e-4)
    assert signed_volume(ball.vertices, ball.faces) == pytest.approx(4 / 3 * np.pi * 0.6**3, rel=2e-3)
    assert (ball.normals * ball.vertices).sum(axis=1) / 0.6 == pytest.approx(np.ones(len(ball.vertices)), abs=0.01)
    closed = trimesh.Trimesh(ball.vertices, ball.faces, process=False)
    assert closed.is_watertight
    assert closed.is_winding_consistent


def test_a_bound_that_was_too_small_is_made_up_for() -> None:
    """Without any margin all cells of one sign are case up at once; following the surface takes them back."""

    def rippled(points: Array) -> Array:
        return sphere_sdf(points, 0.5) + 0.05 * np.sin(25 * points).prod(axis=1)

    sparse = extract(field(rippled), 104, margin=0.0)
    assert sparse.reopened > 0
    assert same(sparse, extract(field(rippled), 104, dense=True))


def test_a_component_that_was_given_up_is_found_by_probing() -> None:
    """A ball inside one coarse cell, invisible in its corners; the field is steep around it."""

    def hidden(points: Array) -> Array:
        speck = np.linalg.norm(points - [0.71, 0.71, 0.71], axis=1)
        return np.where(speck < 0.12, speck - 0.1, sphere_sdf(points, 0.4))

    sparse = extract(field(hidden), 104, margin=1.0)
    assert same(sparse, extract(field(hidden), 104, dense=True))


def test_a_surface_through_the_edge_of_the_domain_is_cut_there() -> None:
    cut = extract(field(lambda p: sphere_sdf(p, 1.2)), 64)
    assert np.abs(cut.vertices).max() == pytest.approx(1)
    assert same(cut, extract(field(lambda p: sphere_sdf(p, 1.2)), 64, dense=True))


def test_what_is_refused() -> None:
    with pytest.raises(UserError, match="has no surface in its domain"):
        extract(field(lambda p: sphere_sdf(p, -0.5)), 32)
    with pytest.raises(UserError, match="at least 2"):
        extract(field(sphere_sdf), 1)
    with pytest.raises(UserError, match="not finite"):
        extract(lambda p: np.full(len(p), np.nan, np.float32), 16)


def test_memory_grows_with_the_resolution() -> None:
    assert memory_needed(512) < 1.5e9 < memory_needed(2048)


def test_a_scan_keeps_every_face() -> None:
    body = trimesh.load(shared_data("meshes", "bunny.obj"), process=False)
    mesh, _ = repair_mesh(body.vertices, body.faces)
    frame = Frame.around(mesh.vertices)
    inside = np.ascontiguousarray(frame.into(mesh.vertices))
    exact = field(lambda points: signed_distance(points, inside, mesh.faces))
    assert same(extract(exact, 32), extract(exact, 32, dense=True))


def test_noise_that_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def noise(points: Array) -> Any:
        return np.sin(points @ np.array([977.0, 1409.0, 733.0])).astype(np.float32)

    monkeypatch.setattr("alfilter.geometry.surface.free_memory", lambda: 10_000_000)
    with pytest.raises(UserError, match=r"the surface at resolution 64 needs about .* GB are free: it lies nearly"):
        extract(noise, 64)
    ball = extract(lambda p: np.linalg.norm(p, axis=1).astype(np.float32) - 0.5, 64)
    assert len(ball.faces) > 1000
