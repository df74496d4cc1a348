"""A request's numbers: read, bounded, and refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.viewer.base import Request


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_integers_come_back(value: int) -> None:
    assert Request({"z": str(value)}).integer("z") == value
    assert Request({"z": value}).integer("z") == value


@pytest.mark.parametrize("value", ["", "1.5", "1e3", "x", True, "9" * 16, "٣", None, " 1"])
def test_what_is_no_integer_is_refused(value: object) -> None:
    with pytest.raises(UserError, match="z must be a whole number, got "):
        Request({"z": value}).integer("z")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back(value: float) -> None:
    assert Request({"x": repr(value)}).number("x") == value


@pytest.mark.parametrize("value", ["nan", "inf", "x", ""])
def test_what_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="x must be a finite number"):
        Request({"x": value}).number("x")


def test_coordinates_and_choices_must_be_there() -> None:
    assert Request({}).number("x") == Request({}).integer("x") == 0
    assert Request({"x": -1}).coordinate("x") == -1
    for values in ({}, {"x": "1.01"}, {"x": "nan"}):
        with pytest.raises(UserError, match="x must be a number from -1 to 1"):
            Request(values).coordinate("x")
    for values in ({}, {"axis": "3"}, {"axis": "01"}):
        with pytest.raises(UserError, match="axis must be one of 0, 1, 2, got"):
            Request(values).choice("axis", (0, 1, 2))
