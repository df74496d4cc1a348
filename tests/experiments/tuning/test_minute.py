"""The search for a minute: the same rule and time for every method, from what was found before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from alfilter.config import Density
from alfilter.experiments import run_study
from alfilter.experiments.committed import committed_lines
from alfilter.experiments.tuning import minute
from alfilter.experiments.tuning.methods import SEARCHES
from alfilter.experiments.tuning.minute import COMMON, GRIDS, TRIALS, runs, searches, summarise
from alfilter.methods import METHODS, build, preset, training
from alfilter.methods.tuned import MINUTE
from alfilter.signals import write_image

# the first trial of some, as the table says it
BEGINS = {
    "siren": "omega=79 lr=0.00042 batch=4096",
    "hash-grid": "density=1 lr=0.005 lr_encoding=0.02 batch=8192",
    "al-grid": "density=1 lr=0.005 lr_encoding=0.02 batch=8192 parsimony=0.3",
}


def test_every_method_is_searched_at_the_same_cost() -> None:
    assert set(searches()) == set(METHODS)
    assert [run.method for run in runs()][-2:] == ["hash-grid", "al-grid"]
    assert all({**run.training, **COMMON} == run.training for run in runs())


@pytest.mark.parametrize("name", searches())
def test_the_start_is_a_setting_of_the_method(name: str) -> None:
    search = searches()[name]
    build(name, in_dim=2, out_dim=3, samples=(16, 16), **search.options)
    training(name, **search.training)
    assert ("batch" in search.training) == (name != "diner"), "which takes all samples"
    assert name in GRIDS or set(SEARCHES[name].training) <= set(search.training)


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_starts_at_its_preset_and_moves_its_own_numbers(name: str) -> None:
    """The first trial is the preset for a picture of 512×512; with the filter, its price is one more axis."""
    search, run = searches()[name], next(run for run in runs() if run.method == name)
    seen = Density(2, 512)
    own = preset(name, "default")
    assert {**own.options_at(seen), **search.options} == own.options_at(seen)
    assert training(name, "default", seen, **{**run.training, "budget": None, **search.training}) == training(
        name, "default", seen
    )
    moved = [set(axis.factors) for axis in search.axes]
    price = [{"parsimony"}] if name == "al-grid" else []
    assert moved == [{"lr", "lr_encoding"}, {"density"}, {"lr_encoding"}, *price, {"batch"}]


@pytest.mark.parametrize("name", ["siren", *GRIDS])
def test_a_whole_search(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "div2k").mkdir()
    write_image(tmp_path / "div2k" / "06.png", np.random.default_rng(0).random((8, 8, 3)))
    monkeypatch.setitem(COMMON, "budget", None)
    monkeypatch.setitem(COMMON, "steps", 2)
    only = minute.Study("tuning-minute", lambda: [r for r in runs() if r.method == name], summarise, minute.execute)
    (line,) = run_study(only, str(tmp_path), str(tmp_path / "out"), 1, lambda line: None)
    assert len(line["trials"]) == TRIALS
    search = searches()[name]
    assert line["trials"][0]["settings"] == {**search.options, **search.training}
    assert all(trial["psnr"] is not None for trial in line["trials"])
    assert line["steps"] == 2
    assert f"| {name} | {BEGINS[name]} |" in only.summarise([line])


def test_presets_hold_what_the_kept_lines_say() -> None:
    lines = [line for line in committed_lines()["tuning-minute"] if line["method"] not in GRIDS]
    assert {line["method"] for line in lines} == set(MINUTE)
    for line in lines:
        options, recipe = MINUTE[line["method"]]
        assert {**options, **recipe}.items() >= line["settings"].items(), line["method"]
