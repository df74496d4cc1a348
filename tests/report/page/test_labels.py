"""Every metric and every chart has its words."""

from __future__ import annotations

from alfilter.report.page.labels import CHARTS, KINDS, METRICS
from alfilter.tasks.open import TASKS


def test_every_metric_has_a_name_digits_and_a_sentence() -> None:
    for metric in METRICS.values():
        assert metric.name
        assert metric.unit in ("", "dB")
        assert 2 <= metric.digits <= 6
        assert metric.meaning.endswith(".")
        assert metric.better in (-1, 0, 1)


def test_every_chart_has_a_heading_a_text_and_a_caption() -> None:
    assert all(all(words) and words[2].endswith(".") for words in CHARTS.values())


def test_every_kind_of_signal_has_a_heading() -> None:
    assert set(KINDS) == {*TASKS, "points"}
