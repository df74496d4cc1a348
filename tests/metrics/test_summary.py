"""Means, spreads and paired differences of many runs, against plain statistics."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from alfilter.metrics.summary import Summary, paired, summarise

NUMBERS = st.floats(-100, 100)


def test_nothing_and_one_run() -> None:
    assert summarise([]) == Summary(None, None, None, 0)
    assert summarise([("a", 3.0)]) == Summary(3.0, None, None, 1)


@given(st.lists(NUMBERS, min_size=2, max_size=9))
def test_one_signal_has_seeds_alone_and_one_seed_signals_alone(values: list[float]) -> None:
    seeds = summarise([("a", value) for value in values])
    assert seeds.over_signals is None
    assert seeds.over_seeds == pytest.approx(statistics.stdev(values), abs=1e-9)
    signals = summarise(list(enumerate(values)))
    assert signals.over_seeds is None
    assert signals.over_signals == pytest.approx(statistics.stdev(values))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=12))
def test_the_interval_is_that_of_the_paired_t_test(pairs: list[tuple[float, float]]) -> None:
    here = {(signal, 0): one for signal, (one, _) in enumerate(pairs)}
    other = {(signal, 0): two for signal, (_, two) in enumerate(pairs)}
    result = paired(here, other)
    assert result is not None
    if statistics.stdev([a - b for a, b in pairs]) > 1e-6:
        expected = ttest_rel([a for a, _ in pairs], [b for _, b in pairs]).confidence_interval(0.95)
        assert (result.low, result.high) == (
            pytest.approx(expected.low, abs=1e-6),
            pytest.approx(expected.high, abs=1e-6),
        )
    assert result.pairs == len(pairs)


def test_only_shared_runs_count_and_signals_before_seeds() -> None:
    assert paired({("a", 0): 1.0}, {("b", 0): 1.0}) is None
    one = paired({("a", 0): 1.0, ("b", 0): 9.0}, {("a", 0): 0.0})
    assert one is not None
    assert (one.mean, one.low, one.pairs) == (1.0, None, 1)
    many = paired(
        {("a", s): 2.0 for s in range(9)} | {("b", 0): 8.0}, {("a", s): 0.0 for s in range(9)} | {("b", 0): 0.0}
    )
    assert many is not None
    assert many.mean == 5.0, "nine seeds of one signal weigh as much as one of another"
