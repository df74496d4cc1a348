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
        ("evry:2", "expected all, every:K, random:FRACTION or mask:FILE, got 'evry:2'; did you mean 'every:K'?"),
        ("", "expected all, every:K, random:FRACTION or mask:FILE, got ''; known: "),
        ("all:2", "got 'all:2'"),
        *((f"every:{k}", f"at least 1 in every:K, got '{k}'; try every:2") for k in ("0", "-1", "2.0", "two", "", "²")),
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


def test_masks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mask.png"
    write_image(file, np.zeros((4, 6, 1)))
    with pytest.raises(UserError, match="expected a mask of size 4x4, got 6x4; resize"):
        observed(f"mask:{file}", (4, 4), 0)
    with pytest.raises(UserError, match="expected a mask that shows something, got zero everywhere"):
        observed(f"mask:{file}", (4, 6), 0)
