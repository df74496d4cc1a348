"""The numbers of a page's program: where each part lies."""

from __future__ import annotations

import numpy as np

from alfilter.export.steps import Program


def test_parts_follow_each_other() -> None:
    program = Program()
    assert program.store(np.arange(6).reshape(2, 3)) == [0, 6]
    assert program.store([7.5]) == [6, 1]
    assert program.numbers.tolist() == [0, 1, 2, 3, 4, 5, 7.5]
    assert program.numbers.dtype == np.float32
