"""Coarse to fine finds exactly the dense surface of fields that were learned, rough ones above all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.data import shared_data
from tests.support.shapes import ball, trimesh, union

from alfilter.evaluate import distances_at
from alfilter.geometry.surface import extract
from alfilter.methods import build
from alfilter.signals import ShapeSignal
from alfilter.tasks import SdfTask
from alfilter.training import fit

SCANS = ("armadillo.obj", "dragon_xyzrgb.ply", "lucy.ply", "thai_from_bacon.ply", "bunny.obj")


def shape(name: str) -> ShapeSignal:
    if name == "shell":
        inner, turned = ball(0.97, levels=4)
        return ShapeSignal.from_mesh(*union(ball(levels=4), (inner, np.ascontiguousarray(turned[:, ::-1]))))
    if name == "two":
        return ShapeSignal.from_mesh(*union(ball(0.07, (-1, -0.97, -0.95), 3), ball(0.07, (1, 0.97, 0.95), 3)))
    body = trimesh.load(shared_data("meshes", name), process=False)
    return ShapeSignal.from_mesh(body.vertices, body.faces)


@pytest.mark.parametrize("name", ["shell", "two", *SCANS])
def test_exactly_the_dense_surface(name: str) -> None:
    task = SdfTask(shape(name), block=4000)
    field = build("al-sine", in_dim=3, out_dim=1, preset="default-shape", width=24, depth=2, grid=8, omega=10.0)
    fit(field, task, steps=40, batch=512, lr=5e-3, sampling="graded", schedule="cosine", decay=0.05)
    sparse = extract(lambda points: distances_at(field, points), 72)
    dense = extract(lambda points: distances_at(field, points), 72, dense=True)
    assert np.array_equal(sparse.vertices, dense.vertices)
    assert np.array_equal(sparse.faces, dense.faces)
    assert len(dense.faces) > 500
    assert sparse.evaluated < dense.evaluated


def test_a_field_that_learned_nothing_is_found_whole() -> None:
    field = build("siren", in_dim=3, out_dim=1, width=24, depth=2)  # waves everywhere
    middle = np.median(distances_at(field, np.random.default_rng(0).uniform(-1, 1, (5000, 3))))
    sparse = extract(lambda points: distances_at(field, points) - middle, 72)
    dense = extract(lambda points: distances_at(field, points) - middle, 72, dense=True)
    assert np.array_equal(sparse.faces, dense.faces)
    assert np.array_equal(sparse.vertices, dense.vertices)
