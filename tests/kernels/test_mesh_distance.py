"""A leaf's nearest triangle, against trimesh's closest points."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shapes import trimesh

from alfilter.geometry.mesh_search import box_tree
from alfilter.kernels import mesh_distance

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 65, 600])
def test_the_nearest_of_any_number_of_triangles(count: int) -> None:
    """Loose ones, of which the last leaf and the last nodes are not full."""
    corners = RNG.uniform(-1, 1, (count, 1, 3)) + RNG.normal(size=(count, 3, 3)) / 4
    points, out = RNG.uniform(-1.5, 1.5, (40, 3)), np.empty(40)
    tree = box_tree(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    mesh_distance.nearest(points, np.arange(40), tree, out)
    each = [trimesh.triangles.closest_point(corners, np.tile(p, (count, 1))) - p for p in points]
    assert out == pytest.approx([np.linalg.norm(difference, axis=1).min() for difference in each], abs=1e-12)
