"""The numbers of a page's program: where each part lies."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.export.steps import Program, packed


def test_parts_follow_each_other() -> None:
    program = Program()
    assert program.store(np.arange(6).reshape(2, 3)) == [0, 6]
    assert program.store([7.5]) == [6, 1]
    assert program.numbers.tolist() == [0, 1, 2, 3, 4, 5, 7.5]
    assert program.numbers.dtype == np.float32


def gridded() -> Program:
    """Three numbers, a table of two levels and two features, one number."""
    program = Program()
    program.store([1.0, 2.0, 3.0])
    levels = [{"cells": [1], "first": 0, "mask": 0}, {"cells": [2], "first": 2, "mask": 0}]
    table = program.store([[1.0, -0.5], [0.25, 0.0], [20.0, -40.0], [10.0, 0.0]])
    program.steps["grid"] = {"features": 2, "levels": levels, "table": table}
    program.store([9.0])
    return program


def test_small_numbers_stay_as_they_are() -> None:
    program = gridded()
    assert packed(program, 48) == program.numbers.tobytes()
    assert program.steps["rounded"] is None


@pytest.mark.parametrize(("large", "bits"), [(47, 16), (32, 16), (31, 8)])
def test_a_large_table_is_rounded_level_by_level_and_comes_last(large: int, bits: int) -> None:
    program = gridded()
    numbers, rounded = packed(program, large), program.steps["rounded"]
    most = 2 ** (bits - 1) - 1
    assert (rounded["first"], rounded["count"], rounded["bits"]) == (3, 8, bits)
    assert [level["end"] for level in rounded["levels"]] == [4, 8]
    assert [level["step"] * most for level in rounded["levels"]] == pytest.approx([1.0, 40.0])
    assert np.frombuffer(numbers[:16], "<f4").tolist() == [1, 2, 3, 9]
    whole = np.frombuffer(numbers[16:], f"<i{bits // 8}") / most
    assert np.abs(whole - [1, -0.5, 0.25, 0, 0.5, -1, 0.25, 0]).max() <= 0.5 / most


def test_numbers_without_a_table_are_never_rounded() -> None:
    program = Program()
    program.store(np.arange(6))
    assert packed(program, 1) == program.numbers.tobytes()


def test_a_table_of_zeros_stays_one() -> None:
    program = Program()
    program.steps["grid"] = {"features": 1, "levels": [{"first": 0}], "table": program.store(np.zeros(4))}
    assert packed(program, 1) == bytes(4)
