"""What the searches settled: which `default` comes from them."""

from __future__ import annotations

import pytest

from alfilter.config import Training, configure
from alfilter.methods import METHODS
from alfilter.methods.tuned import LEAST_BATCH, MINUTE, SMALL, USUAL_LEAST, Settings, with_tuned


def test_every_default_is_what_its_search_says() -> None:
    assert set(MINUTE) == set(METHODS) - {"al-grid", "hash-grid"}, "whose settings the study grids compares"
    for name, (options, recipe) in MINUTE.items():
        default = METHODS[name].presets["default"]
        assert default.options == options
        batch = recipe["batch"] and max(recipe["batch"], LEAST_BATCH.get(name, USUAL_LEAST))
        assert {key: default.training[key] for key in recipe} == {**recipe, "batch": batch}


@pytest.mark.parametrize("settings", [SMALL, MINUTE], ids=["small", "minute"])
def test_settings_are_ones_that_exist(settings: dict[str, Settings]) -> None:
    for name, (options, recipe) in settings.items():
        configure(METHODS[name].options, options, name)
        configure(Training, recipe, "training")


def test_other_presets_stay() -> None:
    rows = {"hash-grid": METHODS["hash-grid"], "gauss": METHODS["gauss"]}
    assert with_tuned(rows)["hash-grid"] is rows["hash-grid"]
    assert with_tuned(rows)["gauss"].presets["paper"] is rows["gauss"].presets["paper"]
