"""One run of the campaign of kills."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.campaigns.kills import trial, undisturbed
from benchmarks.campaigns.originals import make_pictures

from alfilter.runs.folder import HISTORY
from alfilter.runtime.fork_pool import can_fork


@pytest.mark.skipif(not can_fork(), reason="workers are threads on this machine")
def test_a_run_killed_with_its_group_ends_in_the_same_bytes(tmp_path: Path) -> None:
    home, work = tmp_path / "originals", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    make_pictures(home)
    reference = undisturbed("picture", home, work)
    assert {"model.safetensors", "snapshots/0.safetensors", "metrics.json"} <= set(reference.files)
    wrong, strikes = trial("picture", "group-kill", home, work, reference, random.Random(0), 0, moment=under_way)
    assert wrong is None
    assert strikes >= 1


def under_way(folder: Path) -> Callable[[], bool]:
    """A moment of the run itself, not of the clock: the history has grown, and the run is not finished."""
    history = folder / HISTORY
    before = len(history.read_bytes()) if history.exists() else 0
    return lambda: history.exists() and len(history.read_bytes()) > before
