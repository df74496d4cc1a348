"""Slices of volumes and videos: which, and that they are the samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.evaluate import Section
from alfilter.render.run.volume import planes_figure, planes_of, shown_views, slice_of, true_slice
from alfilter.report.page.document import png_size
from alfilter.signals import GridSignal
from alfilter.tasks import LightFieldTask, VolumeTask

SHAPE = (4, 5, 6)


def task(kind: str = "volume") -> VolumeTask:
    data = np.random.default_rng(0).integers(0, 256, (*SHAPE, 1), dtype=np.uint8)
    facts = {"rate": 10.0} if kind == "video" else {}
    return VolumeTask(GridSignal(data, kind=kind, facts=facts))


def test_which_planes_are_shown() -> None:
    assert [(plane.held, plane.places) for plane in planes_of(task())] == [((0,), (2,)), ((1,), (2,)), ((2,), (3,))]
    assert [plane.places for plane in planes_of(task("video"))] == [(0,), (2,), (3,)]


def test_which_views_are_shown() -> None:
    views = np.random.default_rng(0).integers(0, 256, (3, 3, 5, 6, 1), dtype=np.uint8)
    assert shown_views(LightFieldTask.from_array(views)) == [(0, 0), (1, 1), (2, 2)]
    some = LightFieldTask.from_array(views, "views:every:2")
    assert shown_views(some) == [(0, 0), (1, 1)]  # the middle one is unseen
    for plane in planes_of(some):
        u, v = (int(place) for place in plane.places)
        np.testing.assert_allclose(true_slice(some, plane), views[u, v] / 255, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_slice_of_the_samples_and_of_a_field_that_knows_them(axis: int) -> None:
    volume = task()
    values = torch.from_numpy(volume.signal.data.astype(np.float32) / 255)
    sizes = torch.tensor(SHAPE)

    def exact(x: torch.Tensor) -> torch.Tensor:
        index = ((x + 1) / 2 * (sizes - 1)).round().long()
        return values[index[:, 0], index[:, 1], index[:, 2]]

    plane = Section(SHAPE, tuple(k for k in range(3) if k != axis), (1.0,))  # type: ignore[arg-type]
    expected = values.select(axis, 1).numpy()
    np.testing.assert_allclose(true_slice(volume, plane), expected, atol=1e-6)
    np.testing.assert_allclose(slice_of(exact, plane), expected, atol=1e-6)


def test_a_row_per_plane() -> None:
    from alfilter.methods import build

    field = build("siren", in_dim=3, out_dim=1, width=4)
    width, height = png_size(planes_figure(field, task(), planes_of(task())))
    assert min(width, height) > 200
