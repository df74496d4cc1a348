"""Pictures of a shape: the plane that is cut, and what a view shows."""

from __future__ import annotations

import numpy as np
import torch
from tests.support.shapes import cube

from alfilter.geometry.repair import Triangles
from alfilter.render.run import shape
from alfilter.report.page.document import png_size
from alfilter.signals import ShapeSignal
from alfilter.tasks import SdfTask


def test_the_plane_is_the_middle_of_the_domain() -> None:
    points = shape._plane().reshape(shape._SIDE, shape._SIDE, 3)
    assert points[0, 0].tolist() == [-1, -1, 0]
    assert points[0, -1].tolist() == [1, -1, 0], "the first axis is fastest"
    assert points[-1, 0].tolist() == [-1, 1, 0]


def test_a_slice_with_and_without_a_surface() -> None:
    task = SdfTask(ShapeSignal.from_mesh(*cube()))
    for field in (lambda x: x[:, :1] * 0 + 1, lambda x: torch.linalg.norm(x, dim=1, keepdim=True) - 0.5):
        width, height = png_size(shape.slice_figure(field, task))
        assert width > 2 * height


def test_a_view_shows_the_body_and_not_the_ground() -> None:
    vertices, faces = cube()
    picture = shape.view(Triangles(np.asarray(vertices) / np.abs(vertices).max() / 2, np.asarray(faces)), size=64)
    assert picture.shape == (64, 64, 3)
    ground = picture[0, 0]
    assert (np.abs(picture[32, 32] - ground) > 0.05).any()
    assert np.array_equal(picture[-1, -1], ground)
