"""The process that measures distances: the same numbers, and nothing imported from the current folder."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tests.support.shapes import cube

from alfilter.geometry.distance import signed_distance
from alfilter.geometry.distance_worker import DistanceWorker


def test_its_answers_are_those_of_this_process() -> None:
    vertices, faces = cube()
    points = np.random.default_rng(0).uniform(-2, 2, (50, 3))
    assert np.array_equal(DistanceWorker(vertices, faces).distance(points), signed_distance(points, vertices, faces))


def test_files_of_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "json", "alfilter"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')\n")
    monkeypatch.chdir(tmp_path)
    vertices, faces = cube()
    assert DistanceWorker(vertices, faces).distance(np.zeros((1, 3))).shape == (1,)


def test_a_worker_that_is_gone_is_an_error() -> None:
    worker = DistanceWorker(*cube())
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(OSError, match=r"ended|Broken pipe"):
        worker.distance(np.zeros((4, 3)))


def test_signals_to_the_group_do_not_end_it() -> None:
    vertices, faces = cube()
    worker = DistanceWorker(vertices, faces)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(worker._process.pid, number)  # from its first moment on
    assert worker.distance(np.zeros((1, 3))).shape == (1,)
