"""Planes between seen ones: by hand, moved exactly, and never worse than blending by much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from alfilter.inpainting.planes import between, fill_planes, moved, plane_axes

SMALL = hnp.arrays(np.float32, (5, 6, 7, 2), elements=st.floats(0, 1, width=32))


def planes(shape: tuple[int, ...], axis: int, seen: list[int]) -> np.ndarray:
    mask = np.zeros(shape, bool)
    np.moveaxis(mask, axis, 0)[seen] = True
    return mask


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_which_axis_has_whole_planes(axis: int) -> None:
    assert plane_axes(planes((5, 6, 7), axis, [0, 3])) == (axis,)


def test_no_whole_planes() -> None:
    every = np.zeros((4, 4, 4), bool)
    every[::2, ::2, ::2] = True
    assert plane_axes(every) == ()
    assert plane_axes(np.ones((4, 4, 4), bool)) == plane_axes(np.zeros((4, 4, 4), bool)) == ()
    assert plane_axes(np.ones((4, 4), bool)) == ()
    views = np.zeros((3, 3, 2, 2), bool)
    views[0, 0] = views[2, 1] = True
    assert plane_axes(views) == (0, 1)


@settings(max_examples=15, deadline=None)
@given(SMALL, st.sampled_from([0, 1, 2]), st.sets(st.integers(0, 4), min_size=1))
def test_small_planes_are_blended_and_seen_ones_kept(values: np.ndarray, axis: int, seen: set[int]) -> None:
    mask = planes(values.shape[:3], axis, sorted(seen))
    filled = np.moveaxis(fill_planes(values, mask, (axis,)), axis, 0)
    truth = np.moveaxis(values, axis, 0)
    for k, plane in enumerate(filled):
        before, after = [s for s in seen if s <= k], [s for s in seen if s >= k]
        a, b = max(before or after[:1] or seen), min(after or before)
        a = min(seen) if not before else a
        b = max(seen) if not after else b
        share = 0.0 if a == b else (k - a) / (b - a)
        np.testing.assert_allclose(plane, (1 - share) * truth[a] + share * truth[b], atol=1e-6)


def test_views_are_filled_along_both_axes() -> None:
    u, v = np.meshgrid(np.arange(5), np.arange(5), indexing="ij")
    values = np.broadcast_to((0.1 * u + 0.05 * v)[..., None, None, None], (5, 5, 4, 4, 1)).astype(np.float32)
    seen = np.zeros((5, 5, 4, 4), bool)
    seen[::2, ::2] = True
    np.testing.assert_allclose(fill_planes(np.where(seen[..., None], values, 9), seen, (0, 1)), values, atol=1e-6)


def test_views_that_form_no_grid_take_what_there_is() -> None:
    values = np.zeros((3, 3, 4, 4, 1), np.float32)
    values[0, 0], values[2, 2] = 0.2, 0.6
    seen = np.zeros((3, 3, 4, 4), bool)
    seen[0, 0] = seen[2, 2] = True
    filled = fill_planes(values, seen, (0, 1))[..., 0, 0, 0]
    np.testing.assert_allclose(filled, [[0.2] * 3, [0.4] * 3, [0.6] * 3], atol=1e-6)


def texture(shift: float) -> np.ndarray:
    y, x = np.mgrid[:48, :64].astype(np.float64)
    x = x - shift
    return (0.5 + 0.2 * np.sin(x / 3 + y / 5) + 0.2 * np.cos(x / 4 - y / 7))[..., None].astype(np.float32)


def test_a_moving_texture_is_moved_and_not_blended() -> None:
    truth = texture(2.0)
    drawn = between(texture(0.0), texture(4.0), np.float32([0.5]))[0]
    blend = (texture(0.0) + texture(4.0)) / 2
    inner = np.s_[4:-4, 6:-6]
    error, blended = (float(np.mean((a[inner] - truth[inner]) ** 2)) for a in (drawn, blend))
    assert error < blended / 30


def test_what_no_motion_explains_is_blended() -> None:
    rng = np.random.default_rng(0)
    first, last = rng.random((2, 32, 32, 1)).astype(np.float32)
    drawn = between(first, last, np.float32([0.5]))[0]
    assert float(np.mean((drawn - (first + last) / 2) ** 2)) < 0.02


def test_a_picture_read_elsewhere() -> None:
    ramp = np.broadcast_to(np.arange(8, dtype=np.float32)[:, None], (8, 8))[..., None]
    motion = np.stack([np.full((8, 8), 2.0), np.zeros((8, 8))]).astype(np.float32)
    np.testing.assert_allclose(moved(ramp, motion, 0.5)[2:5, 4, 0], [3, 4, 5], atol=0.05)
