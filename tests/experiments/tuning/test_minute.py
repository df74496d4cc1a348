"""The search of one minute: the same for every method, inside its ranges, chosen by nobody."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from alfilter.experiments.tuning.minute import (
    BEST,
    BROAD,
    NARROW,
    OPTIONS,
    RATES,
    RECIPE,
    SAMPLES,
    SHRUNK,
    Range,
    best,
    runs,
)
from alfilter.methods import build, training

AREA = Range(1e-4, 2e-3)


def test_every_method_gets_the_same_rows_at_the_same_cost() -> None:
    rows = runs()
    assert set(Counter(row.method for row in rows).values()) == {BROAD + NARROW}
    assert len({row.name for row in rows}) == len(rows)
    assert all(SAMPLES - 16384 < row.training["steps"] * row.training["batch"] <= SAMPLES for row in rows)


def test_every_row_can_be_built_and_lies_in_its_ranges() -> None:
    for row in runs():
        build(row.method, in_dim=2, out_dim=3, preset=row.preset, samples=(8, 8), **row.settings)
        recipe = training(row.method, row.preset, **row.training)
        for name, area in {**RECIPE, **RATES[row.method], **OPTIONS[row.method]}.items():
            value = row.settings[name] if name in row.settings else getattr(recipe, name)
            assert value in area.choices if area.choices else area.low <= value <= area.high, row.group


def test_the_second_round_surrounds_a_row_of_the_first() -> None:
    for method, centre in BEST.items():
        broad = [row for row in runs() if row.method == method][:BROAD]
        assert any(
            all({**row.settings, **row.training}[name] == value for name, value in centre.items()) for row in broad
        )


@given(u=st.floats(0, 1, exclude_max=True), centre=st.floats(1e-4, 2e-3))
def test_a_smaller_range_stays_inside_the_larger_one(u: float, centre: float) -> None:
    value = AREA.at(u, centre)
    assert AREA.low * 0.95 <= value <= AREA.high * 1.05  # two digits are kept
    assert value / centre <= (AREA.high / AREA.low) ** SHRUNK * 1.05


def test_the_best_row_is_found_per_method() -> None:
    lines = [{"method": name, "metrics": {"psnr": p}} for name in OPTIONS for p in (20.0, 31.0, 25.0)]
    assert [line["metrics"]["psnr"] for line in best(lines)] == [31.0] * len(OPTIONS)
