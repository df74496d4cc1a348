"""Draws lie inside their ranges, and around a centre in a smaller one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alfilter.experiments.tuning.draws import SHRUNK, Range, draws

AREA = Range(1e-4, 2e-3)


@given(u=st.floats(0, 1, exclude_max=True), centre=st.floats(1e-4, 2e-3))
def test_a_smaller_range_stays_inside_the_larger_one(u: float, centre: float) -> None:
    value = AREA.at(u, centre)
    assert AREA.low * 0.95 <= value <= AREA.high * 1.05  # two digits are kept
    assert value / centre <= (AREA.high / AREA.low) ** SHRUNK * 1.05


def test_choices_around_a_centre_are_its_neighbours() -> None:
    area = Range(choices=(4, 5, 6, 7))
    assert {area.at(u, 7) for u in (0.0, 0.4, 0.9)} == {6, 7}


def test_draws_fill_the_box_and_repeat() -> None:
    points = draws(8, 0)
    assert points == draws(8, 0)
    assert all(len(point) == 6 and all(0 <= u < 1 for u in point) for point in points)
    for axis in zip(*points, strict=True):  # a Sobol sequence: as many in each half
        assert sum(u < 0.5 for u in axis) == 4
