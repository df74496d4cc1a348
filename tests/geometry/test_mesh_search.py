"""Compiled distances to closed meshes: libigl's numbers, and signs that no edge and no corner confuses."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shapes import ball, cube, trimesh, union

from alfilter.geometry.distance import MeshDistance
from alfilter.geometry.mesh_search import MeshSearch, can_search, columns, is_closed
from alfilter.geometry.points import curve_order
from alfilter.kernels.dispatch import use_way

POINTS = np.random.default_rng(1).uniform(-1.6, 1.6, (2000, 3))


def torus() -> tuple[np.ndarray, np.ndarray]:
    body = trimesh.creation.torus(0.8, 0.3, major_sections=37, minor_sections=23)
    return np.asarray(body.vertices, dtype=np.float64), np.asarray(body.faces, dtype=np.int64)


BODIES = [cube(), ball(levels=1), ball(levels=4), torus(), union(ball(), cube(0.2)), union(ball(0.7), cube(0.6))]


@pytest.mark.parametrize("body", BODIES)
def test_distances_and_signs_are_those_of_libigl(body: tuple[np.ndarray, np.ndarray]) -> None:
    search, reference = MeshDistance(*body), MeshDistance(*body)
    with use_way("plain"):
        assert reference.search is None
    assert search.search is not None
    assert search.unsigned(POINTS) == pytest.approx(reference.unsigned(POINTS), abs=1e-12)
    clear = reference.unsigned(POINTS) > 1e-6
    assert np.abs(search.winding(POINTS) - reference.winding(POINTS))[clear].max() < 0.05


@pytest.mark.parametrize("body", [ball(), cube(0.7), cube(0.3)])
def test_threads_and_the_order_of_points_change_no_bit(body: tuple[np.ndarray, np.ndarray]) -> None:
    """Nor outside the corners of a cube, which several triangles share and of which each is as near as the others."""
    search = MeshSearch(*body)
    order = curve_order(POINTS)
    alone = search.distances(POINTS, order, shared=False)
    assert np.array_equal(search.distances(POINTS, order), alone)
    for other in (order[::-1].copy(), np.arange(len(POINTS)), np.random.default_rng(2).permutation(len(POINTS))):
        assert np.array_equal(search.distances(POINTS, other), alone)


def test_lines_through_edges_and_corners_count_once() -> None:
    """Points of a lattice, whose lines run into the corners and along the edges and faces of a cube and of pyramids."""
    axis = np.arange(-1.5, 1.6, 0.25)
    lattice = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    size = np.abs(lattice).max(axis=1)
    off = lattice[size != 1]
    assert (MeshDistance(*cube()).winding(off) == (np.abs(off).max(axis=1) < 1)).all()
    vertices = np.array(
        [[x, 0, 0] for x in (-1.0, 1)] + [[0, y, 0] for y in (-1.0, 1)] + [[0, 0, z] for z in (-1.0, 1)]
    )
    faces = np.array([[1, 3, 5], [3, 0, 5], [0, 2, 5], [2, 1, 5], [3, 1, 4], [0, 3, 4], [2, 0, 4], [1, 2, 4]])
    off = lattice[np.abs(lattice).sum(axis=1) != 1]
    assert (MeshDistance(vertices, faces).winding(off) == (np.abs(off).sum(axis=1) < 1)).all()


def test_bodies_inside_each_other_add_their_windings() -> None:
    winding = MeshDistance(*union(ball(), ball(0.5))).winding(np.array([[0.0, 0, 0], [0.7, 0, 0], [1.2, 0, 0]]))
    assert winding.tolist() == [2, 1, 0]


def test_a_triangle_without_area_is_a_segment() -> None:
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    search = MeshSearch(vertices, np.array([[0, 1, 2], [0, 2, 1], [0, 0, 0]]))
    points = np.array([[1.5, 1, 0], [3, 0, 0]])
    assert search.distances(points, curve_order(points)).tolist() == [1, 1]


def test_long_triangles_across_many_cells_stand_in_few_lists() -> None:
    """The sides of a thin prism: in the plane of the columns the box of each is the whole square."""
    prism = trimesh.creation.cylinder(radius=0.2, height=3, sections=500)
    prism.apply_transform(trimesh.geometry.align_vectors([0, 0, 1], [0.1, 1, 1]))
    vertices, faces = np.asarray(prism.vertices, dtype=np.float64), np.asarray(prism.faces, dtype=np.int64)
    lists = columns(vertices, faces)
    assert len(lists.faces) <= 32 * len(faces)
    assert lists.cells > 1
    search, reference = MeshDistance(vertices, faces), MeshDistance(vertices, faces)
    with use_way("plain"):
        assert reference.search is None
    points = POINTS[np.abs(reference.unsigned(POINTS)) > 1e-3]
    inside = reference.winding(points) > 0.5
    assert inside.any()
    assert np.array_equal(search.winding(points), inside)


def test_open_meshes_are_left_to_libigl() -> None:
    vertices, faces = ball(levels=1)
    assert is_closed(faces)
    for damaged in (faces[1:], np.concatenate([faces[:1, ::-1], faces[1:]])):
        assert not can_search(damaged)
        assert MeshDistance(vertices, damaged).search is None
    with use_way("plain"):
        assert not can_search(faces)


def test_no_points() -> None:
    assert MeshDistance(*cube()).signed(np.empty((0, 3))).shape == (0,)
