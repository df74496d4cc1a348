"""A row of METHODS and its presets: what follows the density of a signal."""

from __future__ import annotations

from alfilter.config import Density
from alfilter.methods.method import Preset, follow

FULL, GAPS = Density(2, 64.0), Density(2, 32.0, 2.0)


def test_sparse_settings_come_with_unseen_samples() -> None:
    row = Preset({"width": 4}, {"lr": 1.0}, sparse={"tv": 1e-3})
    assert row.training_at(None) == row.training_at(FULL) == {"lr": 1.0}
    assert row.training_at(GAPS) == {"lr": 1.0, "tv": 1e-3}
    assert row.options_at(GAPS) == {"width": 4}


def test_what_follows_the_density_goes_before_what_is_fixed() -> None:
    row = Preset({"omega": 1.0, "width": 4}, {"lr": 1.0}, adapt=lambda d: ({"omega": d.seen}, {"lr": d.gap}))
    assert row.options_at(GAPS) == {"omega": 32.0, "width": 4}
    assert row.training_at(GAPS) == {"lr": 2.0}
    assert (row.options_at(None), row.training_at(None)) == ({"omega": 1.0, "width": 4}, {"lr": 1.0})


def test_frequencies_follow_the_root_of_the_samples() -> None:
    assert follow(100, {"omega": 30.0, "sigma": 1.0})(Density(1, 25.0)) == ({"omega": 15.0, "sigma": 0.5}, {})
