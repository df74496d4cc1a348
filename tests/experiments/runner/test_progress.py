"""What is shown while a study goes."""

from __future__ import annotations

import io

from rich.console import Console

from alfilter.experiments import Run
from alfilter.experiments.runner.job import Event
from alfilter.experiments.runner.progress import StudyProgress

RUNS = [Run("first", "a.png"), Run("second", "b.png", seed=3)]


def board() -> tuple[StudyProgress, list[str]]:
    lines: list[str] = []
    return StudyProgress("study", RUNS, lines.append), lines


def test_plain_lines_tell_what_ended() -> None:
    shown, lines = board()
    with shown:
        shown.note(Event("started", 0, "1"))
        assert lines == []
        shown.note(Event("finished", 0, "1", {"metrics": {"psnr": 30.0}, "heldout": {"psnr": 20.0}}))
        shown.note(Event("lost", 1, "2", reason="killed by signal 9"))
        shown.note(Event("failed", 1, "2", reason="no such file"))
    assert lines == [
        "1/2  first  a.png  30.00 dB seen, 20.00 dB held out",
        "worker 2 was lost (killed by signal 9); second  b.png  seed 3 is restarted",
        "2/2  second  b.png  seed 3  failed: no such file",
    ]
    assert shown.status() == "study: 2 of 2 ended, 1 failed, 1 restarted"


def test_the_table_shows_what_runs_now() -> None:
    shown, _ = board()
    shown.note(Event("started", 0, "1"))
    shown.note(Event("started", 1, "2"))
    shown.note(Event("finished", 0, "1", {"metrics": {"chamfer": 1.25e-6}, "heldout": None}))
    assert [row[:4] for row in shown.rows()] == [("2", "second", "b.png", "3")]
    stream = io.StringIO()
    Console(file=stream, width=80).print(shown)
    text = stream.getvalue()
    assert "study: 1 of 2 ended" in text
    assert "left" in text
    assert "second" in text
    assert "first" not in text


def test_other_scores_are_named() -> None:
    shown, lines = board()
    shown.note(Event("finished", 0, "1", {"metrics": {"chamfer": 1.25e-6, "note": None}, "heldout": None}))
    assert lines == ["1/2  first  a.png  chamfer 1.25e-06"]
