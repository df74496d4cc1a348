"""Which samples are seen."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.signals import observed, write_image

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)


def test_by_hand() -> None:
    assert observed("all", (2, 2), 0).tolist() == [[True, True], [True, True]]
    assert observed("every:3", (7,), 0).nonzero()[0].tolist() == [0, 3, 6]


@given(shapes, st.integers(1, 12))
def test_every_keeps_the_multiples(shape: tuple[int, ...], step: int) -> None:
    seen = observed(f"every:{step}", shape, 0)
    assert seen.shape == shape
    for index in product(*map(range, shape)):
        assert seen[index] == all(i % step == 0 for i in index)


@given(shapes, st.floats(0.001, 1), st.integers(0, 99))
def test_random_keeps_exactly_the_fraction(shape: tuple[int, ...], fraction: float, seed: int) -> None:
    seen = observed(f"random:{fraction}", shape, seed)
    assert seen.shape == shape
    assert seen.sum() == max(1, round(fraction * seen.size))
    assert np.array_equal(seen, observed(f"random:{fraction}", shape, seed))


def test_random_is_uniform_and_depends_on_the_seed() -> None:
    seen = np.stack([observed("random:0.35", (8, 8), seed) for seed in range(400)])
    assert len({s.tobytes() for s in seen}) == 400
    assert np.abs(seen.mean(0) - 0.35).max() < 5 * np.sqrt(0.35 * 0.65 / 400)


def test_mask_is_read_from_a_file(tmp_path: Path) -> None:
    wanted = np.random.default_rng(0).random((5, 8)) < 0.4
    colour = np.zeros((5, 8, 4))
    colour[..., 1], colour[..., 3] = wanted, 1  # alpha is no sign of being seen
    write_image(tmp_path / "colour.png", colour)
    write_image(tmp_path / "gray.png", wanted[..., None] / 255.0)
    for name in ("colour.png", "gray.png"):
        assert np.array_equal(observed(f"mask:{tmp_path / name}", (5, 8), 0), wanted)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("evry:2", "expected which samples are seen, got 'evry:2'; did you mean 'every:K'?"),
        ("", "expected which samples are seen, got ''; known: all, every:K, random:FRACTION, mask:FILE, frames:"),
        ("frames:every:2", "frames are parts of a video, the signal has 2 axes; try every:2 or random:0.35"),
        ("views:every:2", "views are parts of a light field, the signal has 2 axes"),
        ("all:2", "got 'all:2'"),
        *(
            (f"every:{k}", f"at least 1 in every:K, got '{k}'; try every:2")
            for k in ("0", "-1", "2.0", "two", "", "²", "9" * 5000)
        ),
        *((f"random:{f}", f"in (0, 1] in random:FRACTION, got '{f}'") for f in ("0", "1.01", "-0.5", "nan", "x", "")),
        ("mask:", "expected a file in mask:FILE, got none"),
        ("mask:nowhere.png", "cannot read nowhere.png: no such file"),
    ],
)
def test_mistakes_are_said_in_one_line(spec: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        observed(spec, (4, 4), 0)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_whole_slices(axis: int) -> None:
    shape = (5, 4, 3)
    every, named = observed(f"slices:{axis}:every:2", shape), observed(f"slices:{axis}:0, 2", shape)
    for index in product(*map(range, shape)):
        assert every[index] == (index[axis] % 2 == 0)
        assert named[index] == (index[axis] in (0, 2))
    if axis == 0:
        assert np.array_equal(observed("frames:every:2", shape), every)
        assert np.array_equal(observed("frames:0,2,2", shape), named)


def test_whole_views() -> None:
    shape = (3, 5, 2, 2)
    every = observed("views:every:2", shape)
    assert every[:, :, 1, 0].astype(int).tolist() == [[1, 0, 1, 0, 1], [0] * 5, [1, 0, 1, 0, 1]]
    assert np.argwhere(observed("views:0,0;2,4", shape)[..., 0, 0]).tolist() == [[0, 0], [2, 4]]
    assert observed("views:0,0;2,4", shape).sum() == 8


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("frames:every:0", "at least 1 in every:K, got '0'"),
        ("frames:4", "expected numbers from 0 to 3 in frames, got '4'; try frames:every:2 or frames:0,4,8"),
        ("frames:", "expected every:K or numbers like 0,4,8 in frames, got ''"),
        ("slices:every:2", "expected an axis from 0 to 2 in slices:AXIS:WHICH, got 'every'; try slices:2:every:2"),
        ("slices:1:-1", "got '-1'"),
    ],
)
def test_slices_that_are_not_there(spec: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        observed(spec, (4, 4, 4))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("views:0", "expected every:K or views like U,V;U,V in views:WHICH, got '0'; try views:every:2"),
        ("views:", "got ''"),
        ("views:0,3", "expected numbers from 0 to 2 in views, got '3'"),
    ],
)
def test_views_that_are_not_there(spec: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        observed(spec, (3, 3, 2, 2))
    assert text in str(caught.value)


def test_masks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mask.png"
    write_image(file, np.zeros((4, 6, 1)))
    with pytest.raises(UserError, match="expected a mask of size 4x4, got 6x4; resize"):
        observed(f"mask:{file}", (4, 4), 0)
    with pytest.raises(UserError, match="expected a mask that shows something, got zero everywhere"):
        observed(f"mask:{file}", (4, 6), 0)
