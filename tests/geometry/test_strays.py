"""What distances at nodes prove, and the bodies they contradict."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.shapes import Array, ball, sphere_sdf, torus_sdf, two_sdf, union

from alfilter.errors import UserError
from alfilter.geometry.distance import MeshDistance, signed_distance
from alfilter.geometry.strays import Clearance, bodies, without_strays
from alfilter.geometry.surface import Surface, extract


def surface(body: Any, resolution: int = 64) -> Surface:
    return extract(lambda points: body(points.astype(np.float64)).astype(np.float32), resolution)


def with_speck(centre: tuple[float, float, float], radius: float = 0.05) -> Any:
    """A torus, and a ball that is not part of it."""
    return lambda points: np.minimum(torus_sdf(points), sphere_sdf(points, radius, centre))


def test_a_proof_by_hand() -> None:
    """Nodes at -1, 0 and 1 of a plane x = -0.6: at 0.5 the node at 1, whose distance ends at 127/254, proves nothing;
    the one at 0 proves 0.5 - 0.25 when x = 0.25, of all nodes the most."""
    plane = Clearance.measure(lambda points: points[:, 0] + 0.6, 3)
    assert plane.values[:, 0, 0].tolist() == [-101, 127, 127]
    bounds = plane.at_least(np.array([[0.25, 0, 0], [0.5, 0, 0], [-0.3, 0, 0]]))
    assert bounds.tolist() == pytest.approx([0.25, 0.0, 0.0])  # between nodes of two signs nothing is proven


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_bound_exceeds_the_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (200, 3))
    for body in (torus_sdf, two_sdf):
        bound = Clearance.measure(body).at_least(points)
        assert (bound <= np.abs(body(points)) + 1e-9).all()
        assert (bound >= 0).all()


def test_most_of_space_is_proven() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 3))
    off = np.abs(torus_sdf(points)) > 0.04
    assert (Clearance.measure(torus_sdf).at_least(points[off]) > 0.008).mean() > 0.95


def test_a_stray_goes_and_the_shape_stays() -> None:
    clean, spoiled = surface(torus_sdf), surface(with_speck((0.7, 0.7, 0.7)))
    assert len(spoiled.vertices) > len(clean.vertices)
    left = without_strays(spoiled, Clearance.measure(torus_sdf))
    assert (left.strays, clean.strays) == (1, 0)
    assert len(left.vertices) == len(left.normals) == len(clean.vertices)
    places = [mesh.vertices[np.lexsort(mesh.vertices.T)] for mesh in (left, clean)]
    assert places[0] == pytest.approx(places[1])
    corners = [np.sort(np.linalg.norm(mesh.vertices[mesh.faces], axis=2).sum(axis=1)) for mesh in (left, clean)]
    assert corners[0] == pytest.approx(corners[1])


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.0), (-0.95, 0.1, 0.2), (0.55, 0.0, 0.0)])
def test_strays_in_the_hole_at_the_border_and_inside_the_body(centre: tuple[float, float, float]) -> None:
    def hollow(points: Array) -> Array:
        return np.maximum(torus_sdf(points), -sphere_sdf(points, 0.05, centre))

    body = hollow if centre[0] == 0.55 else with_speck(centre)
    left = without_strays(surface(body), Clearance.measure(torus_sdf))
    assert left.strays == 1
    assert np.abs(torus_sdf(left.vertices)).max() < 0.01


def test_small_bodies_of_the_shape_itself_stay() -> None:
    both = surface(two_sdf)
    assert without_strays(both, Clearance.measure(two_sdf)) is both


def test_a_rough_fit_keeps_its_surface() -> None:
    grown = surface(lambda points: sphere_sdf(points, 0.7))
    assert without_strays(grown, Clearance.measure(sphere_sdf)) is grown  # all of it is off: none is a stray
    assert without_strays(grown, None) is grown


def test_a_hole_that_the_field_closes_is_no_stray() -> None:
    vertices, faces = ball(0.6)
    dome = faces[vertices[faces].mean(axis=1)[:, 2] > -0.1]  # its lower half is missing
    near = MeshDistance(vertices, dome)
    closed = surface(lambda points: near.signed(points), 48)
    assert without_strays(closed, Clearance.measure(near.signed)).strays == 0


def test_a_stray_beside_an_open_mesh_goes() -> None:
    vertices, faces = ball(0.6)
    dome = faces[vertices[faces].mean(axis=1)[:, 2] > -0.1]
    near = MeshDistance(vertices, dome)
    spoiled = surface(lambda points: np.minimum(near.signed(points), sphere_sdf(points, 0.05, (0.8, 0.8, -0.8))), 48)
    assert without_strays(spoiled, Clearance.measure(near.signed)).strays == 1


def test_bodies_are_counted() -> None:
    vertices, faces = union(ball(0.2, (0.5, 0, 0), 1), ball(0.2, (-0.5, 0, 0), 1), ball(0.1, (0, 0.5, 0), 1))
    assert np.bincount(bodies(vertices, faces)).tolist() == [42, 42, 42]
    order = np.random.default_rng(0).permutation(len(faces))
    assert len(np.unique(bodies(vertices, faces[order]))) == 3


def test_it_survives_a_model_file() -> None:
    vertices, faces = ball(0.6, levels=2)
    measured = Clearance.measure(lambda points: signed_distance(points, vertices, faces))
    facts = measured.describe()
    assert len(facts["distances"]) < 40_000
    back = Clearance.read(facts)
    assert back is not None
    assert np.array_equal(back.values, measured.values)
    assert Clearance.read(None) is None


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


@pytest.mark.parametrize(
    "facts",
    [
        3,
        {},
        {"nodes": 4},
        {"nodes": 4, "distances": "?"},
        {"nodes": 4, "distances": packed(b"x" * 63)},
        {"nodes": 4, "distances": packed(b"x" * 65)},
        {"nodes": 1, "distances": packed(b"x")},
        {"nodes": 4096, "distances": packed(b"")},
        {"nodes": True, "distances": packed(b"x")},
        {"nodes": 4, "distances": 7},
        {"nodes": 4, "distances": base64.b64encode(b"no such stream").decode()},
    ],
    ids=str,
)
def test_damaged_facts_are_refused(facts: Any) -> None:
    with pytest.raises(UserError, match="distances of its shape are damaged; fit it again"):
        Clearance.read(facts)
