"""The estimator among scikit-learn's own tools."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import alfilter
from alfilter.errors import UserError
from alfilter.estimator import ALFilterRegressor
from alfilter.runs import fit_task

rng = np.random.default_rng(0)
X = rng.uniform(-2, 3, (120, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1]


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns about its own checks
def test_scikit_learns_own_checks() -> None:
    results = check_estimator(
        ALFilterRegressor(max_iter=60, width=32, depth=2, learning_rate=2e-3, random_state=0), on_fail=None
    )
    failed = [(row["check_name"], str(row["exception"])[:300]) for row in results if row["status"] == "failed"]
    assert not failed
    assert sum(row["status"] == "passed" for row in results) > 40


def test_it_learns_and_repeats_itself() -> None:
    one = ALFilterRegressor(max_iter=200, random_state=3).fit(X, Y)
    other = ALFilterRegressor(max_iter=200, random_state=3).fit(X, Y)
    assert one.score(X, Y) > 0.99
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.predict(X).shape == (120,)
    assert one.n_iter_ == 200
    assert one.outside(np.array([[0.0, 0.0], [9.0, 9.0]])).tolist() == [False, True]


def test_its_defaults_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same table: the same method, options, training and, with the seed, the same numbers."""
    import json

    from tests.support.commands import alfilter as command

    monkeypatch.setattr("alfilter.render.run.finish.draw", lambda *arguments: None)
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([X, Y]), delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    words = ("--coords", "a,b", "--values", "c", "--steps", "3", "--out", tmp_path / "run", "--json")
    done = command("fit", table, *words)
    assert done.code == 0, done.err
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    seen = []
    monkeypatch.setattr("alfilter.estimator.fit_task", lambda *a, **k: seen.append(fit_task(*a, **k)) or seen[-1])
    ALFilterRegressor(max_iter=3, random_state=0).fit(X, Y)
    spec = seen[0].field.spec
    ours = {"method": spec["method"], "preset": seen[0].preset, "options": spec["options"]}
    ours = json.loads(json.dumps({**ours, "training": asdict(seen[0].training)}))
    assert ours == {name: config[name] for name in ours}


def test_several_values_and_units() -> None:
    both = np.stack([Y, 1e6 * Y + 5e9], axis=1)
    model = ALFilterRegressor(max_iter=200, random_state=0).fit(X, both)
    assert model.predict(X).shape == (120, 2)
    assert model.score(X, both) > 0.99


def test_weight_zero_is_as_if_it_were_not_there() -> None:
    weights = np.ones(120)
    weights[:30] = 0
    wrong = np.where(weights == 0, 50.0, Y)
    with_zero = ALFilterRegressor(max_iter=30, random_state=0).fit(X, wrong, sample_weight=weights)
    without = ALFilterRegressor(max_iter=30, random_state=0).fit(X[30:], Y[30:], sample_weight=weights[30:])
    np.testing.assert_array_equal(with_zero.predict(X), without.predict(X))


def test_pipeline_search_and_clone() -> None:
    small = ALFilterRegressor(max_iter=40, width=24, random_state=0)
    line = make_pipeline(StandardScaler(), small)
    assert len(cross_val_score(line, X, Y, cv=3)) == 3
    search = GridSearchCV(line, {"alfilterregressor__levels": [2, 3]}, cv=2).fit(X, Y)
    assert set(search.best_params_) == {"alfilterregressor__levels"}
    assert clone(small.set_params(levels=3)).get_params()["levels"] == 3


def test_more_than_four_features_take_a_network_and_a_method_can_be_named() -> None:
    many = np.random.default_rng(1).random((40, 6))
    model = ALFilterRegressor(max_iter=2, random_state=0).fit(many, many[:, 0])
    assert model.field_.spec["method"] == "al-sine"
    assert ALFilterRegressor(max_iter=2, random_state=0).fit(X, Y).field_.spec["method"] == "al-grid"
    named = ALFilterRegressor(max_iter=2, method="al-sine", omega=5.0, random_state=0).fit(X, Y)
    assert named.field_.spec["options"]["omega"] == 5.0
    noisy = ALFilterRegressor(max_iter=2, preset="noisy", random_state=0).fit(X, Y)
    assert noisy.field_.spec["preset"] == "noisy"


def test_pickled_and_saved_as_a_model_file(tmp_path: Path) -> None:
    model = ALFilterRegressor(max_iter=20, random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert isinstance(pickle.loads(pickle.dumps(ALFilterRegressor())), ALFilterRegressor)
    alfilter.save(model.field_, tmp_path / "m.safetensors")
    assert alfilter.load(tmp_path / "m.safetensors").signal == model.facts_


@pytest.mark.parametrize("options", [{"levels": 0}, {"max_iter": 0}, {"width": "wide"}, {"learning_rate": -1.0}])
def test_a_wrong_parameter_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"option '{next(iter(options))}' must be"):
        ALFilterRegressor(**options).fit(X, Y)


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = "import sys; sys.modules['sklearn'] = None\nimport alfilter\nalfilter.ALFilterRegressor"
    path = str(Path(alfilter.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{path!r}]\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install 'alfilter[sklearn]'" in run.stderr


def test_standard_deviations_are_weights() -> None:
    """Every other value is off by a lot: told so, the fit follows the others."""
    x = np.linspace(0, 1, 400)[:, None]
    clean, spread = np.sin(9 * x[:, 0]), np.where(np.arange(400) % 2, 0.02, 1.0)
    noisy = clean + spread * np.random.default_rng(0).standard_normal(400)
    errors = []
    for weights in (None, 1 / spread**2):
        model = ALFilterRegressor(max_iter=400, preset="noisy", random_state=0).fit(x, noisy, sample_weight=weights)
        errors.append(float(np.sqrt(np.mean((model.predict(x) - clean) ** 2))))
    assert errors[1] < 0.25 * errors[0]
