"""The search for a minute: the same rule and time for every method, from what was found before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from alfilter.experiments import run_study
from alfilter.experiments.committed import committed_lines
from alfilter.experiments.tuning import minute
from alfilter.experiments.tuning.methods import SEARCHES, summarise
from alfilter.experiments.tuning.minute import COMMON, TRIALS, runs, searches
from alfilter.methods import METHODS, build, training
from alfilter.methods.tuned import MINUTE
from alfilter.signals import write_image


def test_every_method_but_the_grids_is_searched_at_the_same_cost() -> None:
    assert set(searches()) == set(METHODS) - {"al-grid", "hash-grid"}
    assert all({**run.training, **COMMON} == run.training for run in runs())


@pytest.mark.parametrize("name", searches())
def test_the_start_is_a_setting_of_the_method(name: str) -> None:
    search = searches()[name]
    build(name, in_dim=2, out_dim=3, samples=(16, 16), **search.options)
    training(name, **search.training)
    assert ("batch" in search.training) == (name != "diner"), "which takes all samples"
    assert set(SEARCHES[name].training) <= set(search.training)


def test_a_whole_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "div2k").mkdir()
    write_image(tmp_path / "div2k" / "06.png", np.random.default_rng(0).random((8, 8, 3)))
    monkeypatch.setitem(COMMON, "budget", None)
    monkeypatch.setitem(COMMON, "steps", 2)
    only = minute.Study("tuning-minute", lambda: [r for r in runs() if r.method == "siren"], summarise, minute.execute)
    (line,) = run_study(only, str(tmp_path), str(tmp_path / "out"), 1, lambda line: None)
    assert len(line["trials"]) == TRIALS
    assert line["trials"][0]["settings"] == {"omega": 79.0, "lr": 4.2e-4, "batch": 4096}
    assert any(trial["settings"]["batch"] != 4096 for trial in line["trials"])
    assert line["steps"] == 2
    assert "| siren | omega=79 lr=0.00042 batch=4096 |" in only.summarise([line])


def test_presets_hold_what_the_kept_lines_say() -> None:
    lines = committed_lines()["tuning-minute"]
    assert {line["method"] for line in lines} == set(MINUTE)
    for line in lines:
        options, recipe = MINUTE[line["method"]]
        assert {**options, **recipe}.items() >= line["settings"].items(), line["method"]
