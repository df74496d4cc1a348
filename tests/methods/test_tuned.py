"""What the searches settled: which `default` comes from them."""

from __future__ import annotations

from alfilter.config import Training, configure
from alfilter.methods import METHODS
from alfilter.methods.tuned import TUNED, TUNED_FOR_WALLCLOCK, with_tuned


def test_every_default_is_what_its_search_says() -> None:
    for name, (options, recipe) in TUNED.items():
        default = METHODS[name].presets["default"]
        if name in TUNED_FOR_WALLCLOCK:
            assert default.options != options, "another study governs it"
            continue
        assert default.options == options
        assert {key: default.training[key] for key in recipe} == recipe


def test_settings_are_ones_that_exist() -> None:
    for name, (options, recipe) in TUNED.items():
        configure(METHODS[name].options, options, name)
        configure(Training, recipe, "training")


def test_other_presets_stay() -> None:
    rows = {"siren": METHODS["siren"], "gauss": METHODS["gauss"]}
    assert with_tuned(rows)["siren"] is rows["siren"]
    assert with_tuned(rows)["gauss"].presets["paper"] is rows["gauss"].presets["paper"]
