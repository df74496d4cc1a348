"""The search is the same for every method: ten fits, by one rule, from the source's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.experiments import run_study
from alfilter.experiments.tuning import methods as tuning
from alfilter.experiments.tuning.methods import SEARCHES, TRIALS, Axis, line_search
from alfilter.methods import METHODS, preset, training, tuned
from alfilter.signals import write_image

AXES = (Axis({"lr": 3.0}), Axis({"omega": 2.0}))


def bowl(settings: dict[str, Any]) -> float:
    """A score whose best place is lr = 9, ω = 5."""
    return -abs(np.log(settings["lr"] / 9)) - abs(np.log(settings["omega"] / 5))


def test_by_hand() -> None:
    """Up until it is worse, then the next axis, down when up is worse; then around the new place."""
    tried = line_search(AXES, {"lr": 1.0, "omega": 10.0}, bowl, 8)
    places = [(settings["lr"], settings["omega"]) for settings, _ in tried]
    assert places[:6] == [(1, 10), (3, 10), (9, 10), (27, 10), (9, 20), (9, 5)]
    assert len(places) == len(set(places)) == 8


def test_nan_is_a_trial_that_failed() -> None:
    tried = line_search(AXES, {"lr": 1.0, "omega": 5.0}, lambda s: -np.inf if s["lr"] > 2 else bowl(s), 9)
    assert len(tried) == 9
    assert max(tried, key=lambda trial: trial[1])[0]["lr"] <= 2


def test_whole_numbers_stay_whole_and_known_places_are_not_repeated() -> None:
    tried = line_search((Axis({"levels": 1}, add=True),), {"levels": 8}, lambda s: -abs(s["levels"] - 9), 9)
    assert [settings["levels"] for settings, _ in tried] == [8, 9, 10]


# their sources' codes write another number than their papers, which the search began at
OTHER_RATES = {"gauss": {"lr": 5e-4}, "sinc": {"omega": 30.0}}


@pytest.mark.parametrize("name", SEARCHES)
def test_every_method_starts_at_its_source(name: str) -> None:
    """Numbers that are searched begin at the source's; those of structure are the default's."""
    search, source = SEARCHES[name], preset(name, "source")
    own = METHODS[name].options()
    searched = {key for axis in search.axes for key in axis.factors}
    assert len(searched) >= 2
    for key in searched & set(search.options):
        value = OTHER_RATES.get(name, {}).get(key, source.options.get(key, getattr(own, key)))
        assert value in (None, search.options[key]), key
    recipe = training(name, "source")
    for key, value in search.training.items():
        assert OTHER_RATES.get(name, {}).get(key, getattr(recipe, key)) == value, key


def test_a_whole_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "div2k").mkdir()
    write_image(tmp_path / "div2k" / "06.png", np.random.default_rng(0).random((12, 12, 3)))
    monkeypatch.setattr(tuning, "SIZE", 8)
    monkeypatch.setitem(tuning.COMMON, "steps", 2)
    only = tuning.Study("tuning", lambda: tuning.runs()[4:5], tuning.summarise, tuning.execute)
    (line,) = run_study(only, str(tmp_path), str(tmp_path / "out"), 1, lambda line: None)
    assert len(line["trials"]) == TRIALS
    assert line["trials"][0]["settings"] == {"omega": 30.0, "lr": 1e-4}
    assert line["trials"][-1]["settings"]["schedule"] == "constant"
    assert line["metrics"]["psnr"] == max(trial["psnr"] for trial in line["trials"])
    assert "| siren | omega=30 lr=0.0001 |" in only.summarise([line])


@pytest.mark.parametrize("name", tuned.SMALL)
def test_what_was_found_are_options_of_the_method(name: str) -> None:
    assert set(tuned.SMALL) == set(METHODS) - {"al-grid"}, "whose settings the study grids compares"
    assert set(SEARCHES[name].options) <= set(tuned.SMALL[name][0])
    assert set(SEARCHES[name].training) <= set(tuned.SMALL[name][1])
