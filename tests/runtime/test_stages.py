"""Stages: what is counted, who is notified."""

from __future__ import annotations

from alfilter.runtime.stages import PICTURES, Stage, advance, stage, watching


def test_a_stage_counts_its_own_unit() -> None:
    stages: list[Stage] = []
    with watching(stages.append), stage("drawing", 2, PICTURES):
        advance(1000)
        advance(1, PICTURES)
        advance(5, PICTURES)
    assert [each.done for each in stages] == [0.0, 0.5, 1.0]
    assert stages[0].left is None
    assert stages[-1].left == 0


def test_nobody_has_to_watch() -> None:
    advance(3)
    with stage("scoring"):
        advance(3)


def test_a_stage_of_unknown_length_tells_its_time() -> None:
    stages: list[Stage] = []
    with watching(stages.append), stage("scoring"):
        advance(3)
    assert [each.done for each in stages] == [None, None]
    advance(1)
    assert len(stages) == 2
