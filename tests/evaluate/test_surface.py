"""The surface of a field, with and without what its shape contradicts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.support.shapes import sphere_sdf, torus_sdf

from alfilter.evaluate import surface_of
from alfilter.geometry.strays import Clearance


def spoiled(x: torch.Tensor) -> torch.Tensor:
    points = x.double().numpy()
    return torch.from_numpy(np.minimum(torus_sdf(points), sphere_sdf(points, 0.08, (0.7, 0.7, 0.7)))[:, None]).float()


def test_strays_are_left_out_where_the_shape_is_known() -> None:
    every, known = surface_of(spoiled, 48), surface_of(spoiled, 48, Clearance.measure(torus_sdf))
    assert (every.strays, known.strays) == (0, 1)
    assert every.vertices.max() == pytest.approx(0.78, abs=0.01)
    assert np.abs(torus_sdf(known.vertices)).max() < 0.01
    assert known.evaluated == every.evaluated
