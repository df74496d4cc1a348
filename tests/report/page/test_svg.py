"""The inline curve: ticks, thinning and what is drawn from which history."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.report.page.svg import HEIGHT, WIDTH, convergence_svg, decades, nice_ticks, thinned


def test_ticks_by_hand() -> None:
    assert nice_ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert nice_ticks(0, 5000) == [0, 1000, 2000, 3000, 4000, 5000]
    assert nice_ticks(3, 3) == [3]
    assert decades(3, 1000) == [10, 100, 1000]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_lie_inside_and_are_few(low: float, span: float) -> None:
    ticks = nice_ticks(low, low + span)
    assert 1 <= len(ticks) <= 6
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in ticks)
    assert len({round(b - a, 6) for a, b in pairwise(ticks)}) <= 2


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(-50, 50)), min_size=1, max_size=80))
def test_thinning_keeps_ends_and_extremes(points: list[tuple[float, float]]) -> None:
    table = np.array(sorted(points))
    x, y = thinned(table[:, 0], table[:, 1])
    assert (x[0], x[-1]) == (table[0, 0], table[-1, 0])
    assert (y.min(), y.max()) == (table[:, 1].min(), table[:, 1].max())
    assert len(x) <= 4 * len(np.unique(np.floor(table[:, 0])))


def test_long_histories_stay_small() -> None:
    history = [{"step": s, "psnr": 20 + (s % 7)} for s in range(1, 50_001)]
    assert len(convergence_svg(history)) < 50_000


@pytest.mark.parametrize("steps", [[1, 10, 1000], [0, 5, 40], [0, 1, 1000]])
def test_points_stay_on_the_sheet(steps: list[int]) -> None:
    root = ElementTree.fromstring(convergence_svg([{"step": s, "psnr": 10.0 + s} for s in steps]))
    (line,) = root.iter("polyline")
    for point in (line.get("points") or "").split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT


def test_label_says_which_way_it_went() -> None:
    fell = convergence_svg([{"step": 1, "psnr": 20.0}, {"step": 9, "psnr": 10.0}])
    assert 'aria-label="PSNR fell from 20.0 to 10.0 dB over 9 steps"' in fell


@pytest.mark.parametrize("history", [[], [{"step": 1, "psnr": 2.0}], [{"step": 1, "psnr": 2.0}] * 3, [{"step": 2}] * 5])
def test_nothing_to_draw(history: list[dict[str, float]]) -> None:
    assert convergence_svg(history) == ""
