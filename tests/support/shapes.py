"""Shapes with exact answers: small meshes and the signed distances of simple bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("igl", reason="needs the extra 'shapes'")
trimesh: Any = pytest.importorskip("trimesh", reason="needs the extra 'shapes'")

Array = np.ndarray[Any, Any]


def coarse_scores(monkeypatch: pytest.MonkeyPatch, resolution: int = 48) -> None:
    """Score shapes by few points and a coarse surface: that takes most of the time of a tiny fit."""
    monkeypatch.setattr("alfilter.tasks.sdf._JUDGED", 500)
    monkeypatch.setattr("alfilter.metrics.shape.GRID", 32)
    monkeypatch.setattr("alfilter.tasks.sdf.SdfTask.evaluate.__defaults__", (resolution,))
    monkeypatch.setattr("alfilter.tasks.sdf.SdfTask.compare.__defaults__", (2000, 24))


def cube(half: float = 1.0) -> tuple[Array, Array]:
    """A closed cube with twelve faces, outwards."""
    body = trimesh.creation.box(extents=(2 * half,) * 3)
    return np.asarray(body.vertices, dtype=np.float64), np.asarray(body.faces, dtype=np.int64)


def ball(radius: float = 1.0, centre: tuple[float, float, float] = (0, 0, 0), levels: int = 4) -> tuple[Array, Array]:
    """An icosphere, outwards."""
    body = trimesh.creation.icosphere(subdivisions=levels, radius=radius)
    return np.asarray(body.vertices, dtype=np.float64) + centre, np.asarray(body.faces, dtype=np.int64)


def union(*bodies: tuple[Array, Array]) -> tuple[Array, Array]:
    """Bodies side by side in one mesh."""
    vertices, faces, first = [], [], 0
    for points, corners in bodies:
        vertices.append(points)
        faces.append(corners + first)
        first += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def sphere_sdf(points: Array, radius: float = 0.6, centre: tuple[float, float, float] = (0, 0, 0)) -> Array:
    return np.linalg.norm(points - np.asarray(centre), axis=-1) - radius


def box_sdf(points: Array, half: tuple[float, float, float] = (0.5, 0.41, 0.33)) -> Array:
    q = np.abs(points) - np.asarray(half)
    return np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(axis=-1), 0)


def torus_sdf(points: Array, ring: float = 0.55, tube: float = 0.2) -> Array:
    across = np.hypot(points[..., 0], points[..., 1]) - ring
    return np.hypot(across, points[..., 2]) - tube


def shell_sdf(points: Array) -> Array:
    """A sphere's skin, 0.024 thick: less than two cells at 96³."""
    return np.abs(sphere_sdf(points, 0.7)) - 0.012


def two_sdf(points: Array) -> Array:
    """Two small balls in opposite corners of the domain."""
    return np.minimum(sphere_sdf(points, 0.05, (-0.8, -0.8, -0.8)), sphere_sdf(points, 0.06, (0.83, 0.81, 0.79)))
