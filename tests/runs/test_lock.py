"""One process at a time in a run folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from alfilter.errors import UserError
from alfilter.runs.lock import PathLock, holder


def test_a_folder_is_held_until_it_is_released(tmp_path: Path) -> None:
    with PathLock(tmp_path) as first:
        first.acquire()
        first.acquire()  # twice by the same one does no harm
        with pytest.raises(UserError, match=f"is in use by process {os.getpid()}; wait until it has ended"):
            PathLock(tmp_path).acquire()
    with PathLock(tmp_path) as second:
        second.acquire()
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot use .*missing: No such file or directory; give another folder"):
        PathLock(tmp_path / "missing").acquire()


def test_the_holder_is_read_from_the_systems_table(tmp_path: Path) -> None:
    table = tmp_path / "locks"
    table.write_text("1: POSIX ADVISORY WRITE 7 08:01:42 0 EOF\n2: FLOCK ADVISORY WRITE 1234 08:01:42 0 EOF\n")
    assert holder(42, table) == "process 1234"
    assert holder(4, table) == "another process"
    assert holder(42, tmp_path / "missing") == "another process"
