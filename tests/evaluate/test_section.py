"""Planes through grids: a case by hand, the same values as the whole grid's, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.support.processor import flushes_denormals, shrink
from torch import Tensor, nn

from alfilter.errors import UserError
from alfilter.evaluate import LAYOUTS, Section, sample_axes, sample_grid
from alfilter.signals import GridSignal


def waves(x: torch.Tensor) -> torch.Tensor:
    """A function of any number of coordinates that tells them apart."""
    return (torch.arange(1, x.shape[-1] + 1) * x).sin().sum(-1, keepdim=True)


def test_a_plane_by_hand() -> None:
    section = Section((5, 3, 9), (2, 0), (2.0,))
    assert (section.held, section.size) == ((1,), (9, 5))
    assert section.coordinates(8, 0) == [-1.0, 1.0, 1.0]
    asked = section.through(lambda x: x)(torch.tensor([[0.25, -0.5]]))
    assert asked.tolist() == [[-0.5, 1.0, 0.25]]
    data = np.arange(5 * 3 * 9, dtype=np.uint8).reshape(5, 3, 9, 1)
    plane = section.of(GridSignal(data, kind="volume"))
    assert plane.shape == (9, 5)
    assert np.array_equal(plane.data[..., 0], data[:, 2, :, 0].T)
    assert (plane.low, plane.high) == (0, 255)


@given(st.integers(0, 3), st.integers(0, 3), st.data())
def test_a_plane_of_a_grid_is_the_grids(down: int, right: int, data: st.DataObject) -> None:
    shape = (3, 4, 2, 5)
    if down == right:
        return
    held = [axis for axis in range(4) if axis not in (down, right)]
    index = {axis: data.draw(st.integers(0, shape[axis] - 1)) for axis in held}
    section = Section(shape, (down, right), tuple(index[axis] for axis in held))
    whole = sample_grid(waves, shape)
    expected = whole[tuple(index.get(axis, slice(None)) for axis in range(4))]
    axes = [torch.linspace(-1, 1, n) for n in section.size]
    drawn = sample_axes(section.through(waves), axes)
    assert torch.allclose(drawn, expected if down < right else expected.transpose(0, 1), atol=1e-6)


@flushes_denormals
def test_a_field_s_plane_flushes_denormals_as_the_field_does() -> None:
    class Shrinking(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            assert x.shape[1] == 3
            return torch.full((len(x), 1), float(shrink() > 0))

    section = Section((5, 3, 9), (1, 2), (2.0,))
    assert sample_grid(section.through(Shrinking()), section.size).max() == 0
    assert sample_grid(section.through(lambda x: Shrinking()(x)), section.size).min() > 0


def test_every_layout_shows_planes_of_its_own_axes() -> None:
    for layout in LAYOUTS.values():
        for plane in layout.planes:
            assert len(set(plane)) == 2
            assert all(0 <= axis < len(layout.axes) for axis in plane)


def test_a_picture_is_its_own_plane() -> None:
    section = Section((4, 4), (0, 1))
    assert section.through(waves) is waves


@pytest.mark.parametrize(
    ("places", "words"), [((), "holds 1 axes, got 0 places"), ((4.5,), "between 0 and 4, got 4.5")]
)
def test_places_must_be_there(places: tuple[float, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        Section((5, 3, 9), (1, 2), places)
