"""The search at equal sizes: the same for both grids but for the filter, and what it found in the table."""

from __future__ import annotations

from collections import Counter

import pytest

from alfilter.experiments.committed import committed_lines
from alfilter.experiments.fitting import check_run
from alfilter.experiments.tuning.equal_sizes import (
    BEST,
    CHANGES,
    FILTER_CHANGES,
    LEVELS,
    METHODS,
    SIZES,
    best,
    found,
    runs,
    summarise,
)
from alfilter.methods import build, parameter_count


def test_both_get_the_same_rows_but_for_those_of_the_filter() -> None:
    rows = runs()
    shared = (len(LEVELS) + len(CHANGES)) * len(SIZES) - 1  # 60,000 parameters have no third number of levels
    counts = Counter(row.method for row in rows)
    assert counts == {"hash-grid": shared, "al-grid": shared + len(FILTER_CHANGES) * len(SIZES)}
    assert len({row.name for row in rows}) == len(rows)
    assert all(BEST[name][size] in LEVELS for name in METHODS for size in SIZES)


def test_rows_have_the_size_they_say() -> None:
    """To 1 %; the nodes of α count."""
    for row in runs():
        check_run(row)
        field = build(row.method, in_dim=2, out_dim=3, preset="default", samples=(512, 512), **row.settings)
        size = int(row.group.split(", ")[1].split(" ")[0].replace(",", ""))
        assert abs(parameter_count(field) / size - 1) <= 0.01, row.group


def test_the_best_row_of_every_method_and_size() -> None:
    lines = [
        {**row.heading, "metrics": {"psnr": float(place)}, "params": 1, "seconds": 2.0}
        for place, row in enumerate(runs())
    ]
    of_all = best(lines)
    assert len(of_all) == len(METHODS) * len(SIZES)
    last = {row.group.partition(":")[0]: row.group for row in runs()}
    assert [line["group"] for line in of_all] == [last[line["group"].partition(":")[0]] for line in of_all]
    assert "Best:" in summarise(lines)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", SIZES)
def test_what_is_taken_is_the_best_of_the_kept_lines(name: str, size: int) -> None:
    options, training = found(name, size)
    groups = {line["group"].partition(":")[0]: line for line in best(committed_lines()["equal-search"])}
    line = groups[f"{name}, {size:,} parameters"]
    assert line["settings"] == options
    assert {key: value for key, value in line["training"].items() if key != "steps"} == training
