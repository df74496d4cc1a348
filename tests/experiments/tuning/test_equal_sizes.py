"""The search at equal sizes: the same for both grids but for the filter, and what it found in the table."""

from __future__ import annotations

from collections import Counter

from alfilter.experiments.fitting import check_run
from alfilter.experiments.tuning.equal_sizes import (
    BEST,
    CHANGES,
    FILTER_CHANGES,
    METHODS,
    SHAPES,
    best,
    runs,
    summarise,
)
from alfilter.methods import build, parameter_count


def test_both_get_the_same_rows_but_for_those_of_the_filter() -> None:
    rows = runs()
    shared = sum(len(shapes) for shapes in SHAPES.values()) + len(CHANGES) * len(SHAPES)
    counts = Counter(row.method for row in rows)
    assert counts == {"hash-grid": shared, "al-grid": shared + len(FILTER_CHANGES) * len(SHAPES)}
    assert len({row.name for row in rows}) == len(rows)
    assert all(BEST[name][size] in SHAPES[size] for name in METHODS for size in SHAPES)


def test_rows_have_the_size_they_say() -> None:
    """To 1 %; the nodes of α count."""
    for row in runs():
        check_run(row)
        field = build(row.method, in_dim=2, out_dim=3, preset="default", samples=(256, 256), **row.settings)
        size = int(row.group.split(", ")[1].split(" ")[0].replace(",", ""))
        assert abs(parameter_count(field) / size - 1) <= 0.01, row.group


def test_the_best_row_of_every_method_and_size() -> None:
    lines = [
        {**row.heading, "metrics": {"psnr": float(place)}, "params": 1, "seconds": 2.0}
        for place, row in enumerate(runs())
    ]
    found = best(lines)
    assert len(found) == len(METHODS) * len(SHAPES)
    last = {row.group.partition(":")[0]: row.group for row in runs()}
    assert [line["group"] for line in found] == [last[line["group"].partition(":")[0]] for line in found]
    assert "Best:" in summarise(lines)
