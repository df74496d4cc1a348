"""Figures of local frequency draw any shape, say what they leave out, and fit their colours to the values."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.pictures import SHAPES, opened

from alfilter.errors import UserError
from alfilter.report.figures.frequency import alpha_figure, flat_words, frequency_range, scale_response_figure

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_map_of_any_shape(shape: tuple[int, int]) -> None:
    opened(alpha_figure(RNG.uniform(0.01, 0.5, shape), "cycles per pixel"))


def test_the_colours_fit_the_values() -> None:
    """A map that moves by a few per cent is not one colour."""
    colours = []
    for wiggle in (0.0, 0.01):
        drawn = opened(alpha_figure(0.2 + wiggle * RNG.uniform(-1, 1, (32, 32)), "cycles per pixel"))
        colours.append(len(drawn.convert("RGB").getcolors(10**7) or []))
    assert colours[1] > colours[0] + 50
    low, high = frequency_range(np.array([[0.001, *[0.1] * 200, *[0.4] * 200, 9.0]]))
    assert (low, high) == (0.1, 0.4), "one place in a hundred does not set the scale"


@pytest.mark.parametrize("levels", [1, 2, 5, 16])
@pytest.mark.parametrize("shape", SHAPES[:4])
def test_scales(levels: int, shape: tuple[int, int]) -> None:
    opened(scale_response_figure(RNG.uniform(0, 1, (levels, *shape)), 2.0 ** np.arange(levels), "cycles"))


def test_scales_that_do_not_vary_are_counted() -> None:
    maps = np.stack([np.ones((4, 4)), np.ones((4, 4)), np.tri(4), np.zeros((4, 4))])
    assert flat_words(maps, [2]) == "; 2 scales pass everywhere, 1 nowhere"
    assert flat_words(maps[2:], [0]) == "; 1 scale passes nowhere"
    assert flat_words(maps, [0, 1, 2, 3]) == ""


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(UserError, match=r"frequency must be a map \(H, W\) .* got shape \(4,\)"):
        alpha_figure(np.zeros(4), "cycles")
    with pytest.raises(UserError, match=r"responses must have the shape \(L, H, W\) and a frequency each"):
        scale_response_figure(np.zeros((2, 4, 4)), np.ones(3), "cycles")
