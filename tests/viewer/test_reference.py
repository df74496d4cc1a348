"""The picture between its pixels, against Pillow's own cubic."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from alfilter.signals import GridSignal
from alfilter.viewer.reference import bicubic, keys_kernel, nearest
from alfilter.viewer.tiles import TileIndex


def signal(rows: int = 9, columns: int = 11, channels: int = 3) -> GridSignal:
    return GridSignal(np.random.default_rng(1).integers(0, 256, (rows, columns, channels), dtype=np.uint8))


def test_at_the_samples_both_are_the_samples() -> None:
    picture = signal()
    places = TileIndex(0, 0, 0).places((9, 11))
    values = picture.values().view(9, 11, 3).numpy()
    assert np.allclose(bicubic(picture, *places), values, atol=1e-7)
    assert np.allclose(nearest(picture, *places), values, atol=1e-7)


def test_bicubic_is_pillows_away_from_the_border() -> None:
    picture = signal()
    ours = bicubic(picture, *TileIndex(16, 0, 0).places((9, 11)))  # four times
    for channel in range(3):
        plane = Image.fromarray((picture.data[..., channel] / 255).astype(np.float32))
        theirs = np.asarray(plane.resize((44, 36), Image.Resampling.BICUBIC))
        assert np.abs(ours[..., channel] - theirs)[8:-8, 8:-8].max() < 1e-5


def test_nearest_is_squares() -> None:
    picture = signal()
    drawn = nearest(picture, *TileIndex(16, 0, 0).places((9, 11)))
    assert np.array_equal(drawn, np.kron(picture.data / 255, np.ones((4, 4, 1))))


@given(st.floats(0, 1))
def test_the_kernel_keeps_lines(t: float) -> None:
    weights = keys_kernel(np.array([t]))[0]
    assert abs(weights.sum() - 1) < 1e-12
    assert abs(weights @ np.arange(-1, 3) - t) < 1e-12


def test_other_ranges_are_normalised() -> None:
    picture = GridSignal(np.array([[[-2.0], [2.0]]], dtype=np.float32))
    assert nearest(picture, torch.zeros(1), torch.tensor([0.0, 1.0])).flatten().tolist() == [0.0, 1.0]
