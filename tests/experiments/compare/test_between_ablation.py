"""One change at a time: the same runs for every change, on pictures of no table."""

from __future__ import annotations

from alfilter.experiments.compare import between
from alfilter.experiments.compare.between_ablation import CHANGES, SEEDS, runs


def test_every_change_has_the_same_runs() -> None:
    by_change = {group: [run for run in runs() if run.group == group] for group in CHANGES}
    cases = {tuple((run.image, run.observe, run.seed) for run in rows) for rows in by_change.values()}
    assert len(cases) == 1
    assert {len(rows) for rows in by_change.values()} == {len(between.SEARCHED) * len(between.OBSERVED) * len(SEEDS)}


def test_only_the_first_row_is_the_preset_itself() -> None:
    plain = [group for group, (options, training) in CHANGES.items() if not options and not training]
    assert plain == [next(iter(CHANGES))] == ["reconstruct"]


def test_no_picture_of_a_table_is_used() -> None:
    assert not {run.image for run in runs()} & set(between.IMAGES)
