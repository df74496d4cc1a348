"""Pictures of scattered points: the orientation, and a figure for every number of coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from alfilter.methods import build
from alfilter.render.run.points import draw_points, upright
from alfilter.report.page.document import png_size
from alfilter.runs.folder import RunFolder
from alfilter.signals import PointSignal
from alfilter.tasks import PointTask


def test_the_first_coordinate_goes_right_and_the_second_up() -> None:
    values = np.array([[1, 2], [3, 4], [5, 6]])  # values[first, second]
    assert upright(values).tolist() == [[2, 4, 6], [1, 3, 5]]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_number_of_coordinates_is_drawn(dims: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(dims)
    task = PointTask(PointSignal(rng.uniform(size=(60, dims)), rng.normal(size=(60, 2))), "random:0.5")
    field = build("al-sine", in_dim=dims, out_dim=2, width=4, depth=1, levels=2, grid=4)
    draw_points(RunFolder(tmp_path), field, task, task.evaluate(field))
    names = {"map.png", "parity.png", *(("alpha.png", "scales.png") if dims == 2 else ())}
    assert {file.name for file in tmp_path.iterdir()} == names
    assert all(min(png_size(file.read_bytes())) > 100 for file in tmp_path.iterdir())
