"""From a user's word to a task: the content decides, and what was done about it is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import picture

from alfilter.errors import UserError
from alfilter.tasks import ImageTask, PointTask
from alfilter.tasks.open import open_task

TABLE = "x,y,v\n0,0,1\n0,0,3\n1,0,5\n0,1,7\n2,1,\n"


def test_a_picture(tmp_path: Path) -> None:
    task = open_task(str(picture(tmp_path / "a.png", 6, 4)), "every:2")
    assert isinstance(task, ImageTask)
    assert task.seen is not None
    assert len(task.seen) == 6


def test_what_a_table_lacks_and_repeats_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    lines: list[str] = []
    task = open_task(str(tmp_path / "t.csv"), columns=(("x", "y"), ("v",), None, None), say=lines.append)
    assert isinstance(task, PointTask)
    assert task.signal.measured.tolist() == [[2.0], [7.0], [5.0]]
    assert lines == [
        "1 of 5 rows lack a value and were dropped",
        "1 rows repeat a place; the measurements of a place were averaged",
    ]


def test_an_observation_that_hides_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"observe=every:1 sees every sample, so nothing is held out; say all"):
        open_task(str(picture(tmp_path / "a.png")), "every:1")
