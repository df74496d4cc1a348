"""Methods sized to a budget, and the products they cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.commands import alfilter, complaint, picture, without_figures

from alfilter.errors import UserError
from alfilter.methods import METHODS, build, cost_per_point, method, parameter_count, sized
from alfilter.methods.sizing import _nearest


@pytest.mark.parametrize("name", METHODS)
def test_every_method_meets_a_budget_or_says_the_nearest(name: str) -> None:
    met, message = 0, []
    for budget in (3_000, 40_000):
        try:
            options = sized(name, budget, 2, 3, (32, 32), preset="default")
        except UserError as error:
            message.append(str(error))
            continue
        field = build(name, in_dim=2, out_dim=3, preset="default", samples=(32, 32), **options)
        met += abs(parameter_count(field) - budget) <= 0.05 * budget
    assert met + len(message) == 2
    assert all("the nearest is" in text for text in message), message


@pytest.mark.parametrize("name", ["siren", "gauss", "hosc", "sinc", "finer", "mfn-fourier", "mfn-gabor", "poly-inr"])
def test_methods_that_are_all_width_always_meet_it(name: str) -> None:
    assert method(name).size_by == "width"
    assert set(sized(name, 60_000, 3, 1)) == {"width"}


@pytest.mark.parametrize("name", ["al-grid", "hash-grid"])
@pytest.mark.parametrize("budget", [15_000, 60_000, 133_000, 400_000])
def test_a_small_grid_is_sized_by_its_rows_and_then_by_its_coarsest_level(name: str, budget: int) -> None:
    options = sized(name, budget, 2, 3, (512, 512), preset="small")
    assert set(options) == {"table", "base"}
    field = build(name, in_dim=2, out_dim=3, preset="small", samples=(512, 512), **options)
    assert abs(parameter_count(field) - budget) <= 0.05 * budget
    with pytest.raises(UserError, match=f"{name} is sized by its option 'table', which is given too"):
        sized(name, budget, 2, 3, (512, 512), preset="small", table=12)


def test_a_budget_that_cannot_be_met() -> None:
    """An α grid of 64 × 64 is 4,096 parameters, whatever the width."""
    with pytest.raises(UserError) as error:
        sized("al-sine", 1000, 2, 3, (64, 64))
    expected = 64 * 64 + (32 + 1) + 2 * 2 + 2 * 3
    assert str(error.value) == (
        f"al-sine cannot have 1,000 parameters within 5%; the nearest is {expected:,} (width=1)"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"params": 0}, "a parameter budget must be a whole number of at least 1, got 0"),
        ({"params": 1.5}, "a parameter budget must be a whole number of at least 1, got 1.5"),
        ({"width": 8}, "siren is sized by its option 'width', which is given too; leave out one of them"),
    ],
)
def test_wrong_budgets_are_explained(arguments: dict[str, object], text: str) -> None:
    budget = {"params": 1000, **arguments}
    with pytest.raises(UserError) as error:
        sized("siren", budget.pop("params"), 2, 3, **budget)  # type: ignore[arg-type]
    assert str(error.value) == text


@settings(max_examples=60)
@given(st.integers(1, 10**7), st.integers(1, 9), st.integers(10, 3000))
def test_nearest_is_the_nearest(wanted: int, low: int, high: int) -> None:
    """Against trying every size."""

    def count(size: int) -> int:
        return 3 * size * size + 5 * size + 100

    size, got = _nearest(count, wanted, low, high)
    assert got == count(size)
    assert abs(got - wanted) == min(abs(count(s) - wanted) for s in range(low, high + 1))


@pytest.mark.parametrize(
    ("name", "options", "products"),
    [
        ("siren", {}, 2 * 256 + 2 * 256 * 256 + 256 * 3),
        ("wire", {}, 2 * 362 + 2 * 362 * 362 + 362 * 3),  # 181 complex neurons, each product four real ones
        ("mfn-fourier", {}, 4 * 2 * 256 + 3 * 256 * 256 + 256 * 3),
        ("poly-inr", {"levels": 2}, 2 * 2 * 256 + 2 * 256 * 256 + 256 * 3),
    ],
)
def test_cost_is_that_of_the_matrices(name: str, options: dict[str, int], products: int) -> None:
    """Two operations a product, and forward, by input and by weight."""
    field = build(name, in_dim=2, out_dim=3, **options)
    assert cost_per_point(field) == pytest.approx(6 * products / 1e6)
    assert field.shift.dtype.is_floating_point
    assert field.shift.element_size() == 4  # put back to what it was


def test_fit_to_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    source = picture(tmp_path / "photo.png")
    words = ("fit", source, "--method", "sinc", "--steps", "1", "--out", tmp_path / "out", "--quiet", "--json")
    code, out, err = alfilter(*words, "--params", "2000")
    assert code == 0, err
    assert abs(json.loads(out)["params"] - 2000) <= 100
    message = complaint("fit", source, "--method", "al-sine", "--out", tmp_path / "b", "--params", "50")
    assert message.startswith("al-sine cannot have 50 parameters within 5%; the nearest is")
