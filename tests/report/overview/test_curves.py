"""Mean curves of several settings, and their chart."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from alfilter.report.overview.collect import Entry
from alfilter.report.overview.curves import MAX_CURVES, curves_key, curves_svg, mean_curves


def entry(group: str, curve: Sequence[tuple[float, float]]) -> Entry:
    return Entry("s", group, "siren", "a.png", curve=curve)


def test_a_mean_over_the_steps_all_runs_have() -> None:
    runs = [entry("a", [(1, 10.0), (2, 20.0), (3, 30.0)]), entry("a", [(1, 20.0), (3, 40.0)]), entry("b", [(1, 1.0)])]
    ((name, steps, values),) = mean_curves(runs)
    assert (name, steps.tolist(), values.tolist()) == ("a", [1, 3], [15, 35])


def test_the_best_come_first_and_few_are_drawn() -> None:
    runs = [entry(f"s{k}", [(1, 0.0), (2, float(k))]) for k in range(MAX_CURVES + 3)]
    series = mean_curves(runs)
    assert [name for name, _, _ in series] == [f"s{k}" for k in range(MAX_CURVES + 2, 2, -1)]


def test_the_chart_is_well_formed_and_can_be_cut() -> None:
    steps = np.arange(1.0, 301.0)
    series = [("<a>", steps, np.sqrt(steps)), ("b", steps, steps / 20)]
    for drawing in (curves_svg(series, "All steps", log=True), curves_svg(series, "Early", until=100)):
        root = ElementTree.fromstring(drawing)
        assert [line.get("class") for line in root.iter("polyline")] == ["c1", "c0"]
    assert curves_svg(series, "Nothing", until=1) == ""
    assert "&lt;a&gt; <b>17.3</b>" in curves_key(series)
