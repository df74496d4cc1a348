"""The task of scattered points: its loss, its scores, its split."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.evaluate import sample_points
from alfilter.methods import build
from alfilter.signals import PointSignal
from alfilter.tasks import PointTask
from alfilter.tasks.points import point_scores, predict
from alfilter.training import fit


def wave(count: int = 400, seed: int = 0) -> PointSignal:
    rng = np.random.default_rng(seed)
    places = rng.uniform([100, -5], [110, 5], (count, 2))
    return PointSignal(places, 1e6 + np.sin(places.sum(1, keepdims=True)))


def test_the_loss_is_the_weighted_mean() -> None:
    signal = PointSignal(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [5.0], [10.0]]), np.array([1.0, 3.0, 0.0]))
    task = PointTask(signal)
    x, y = task.load(slice(0, 3))
    prediction = torch.tensor([[0.5], [0.0], [9.0]])
    expected = (1 * 0.5**2 + 3 * 0.5**2 + 0) / 4
    assert task.loss(prediction, y).item() / 3 == pytest.approx(expected)
    assert x.tolist() == [[-1.0], [0.0], [1.0]]


def test_scores_against_scikit_learn() -> None:
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    rng = np.random.default_rng(0)
    target, guess = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    span = np.ptp(target, axis=0)
    scores = point_scores(guess, target, span, ["a", "b"])
    assert scores["r2"] == pytest.approx(r2_score(target, guess))
    assert scores["rmse_b"] == pytest.approx(root_mean_squared_error(target[:, 1], guess[:, 1]))
    assert scores["mae_a"] == pytest.approx(mean_absolute_error(target[:, 0], guess[:, 0]))
    assert scores["psnr"] == pytest.approx(-10 * np.log10((((guess - target) / span) ** 2).mean()))


def test_a_fit_finds_the_function_between_the_points() -> None:
    task = PointTask(wave(), "random:0.8")
    field = build("siren", in_dim=2, out_dim=1, width=48, depth=2, omega=8.0)
    fit(field, task, steps=250, lr=2e-3, schedule="cosine", decay=0.01)
    scores = task.evaluate(field)
    assert scores.heldout is not None
    assert scores.heldout["r2"] > 0.99
    places = np.array([[104.0, 1.0], [108.0, -2.0], [200.0, 0.0]])
    values, beyond = predict(field, task.describe(), places)
    assert beyond.tolist() == [False, False, True]
    np.testing.assert_allclose(values[:2, 0], 1e6 + np.sin(places[:2].sum(1)), atol=0.1)


def test_seen_and_held_out_are_parted() -> None:
    task = PointTask(wave(100), "random:0.25", seed=3)
    assert task.count == 25
    line = PointSignal(np.arange(9.0)[:, None], np.arange(9.0)[:, None])
    seen = PointTask(line, "every:2").seen
    assert seen is not None
    assert seen.tolist() == [0, 2, 4, 6, 8]
    for observe in ("every:2", "mask:m.png"):
        with pytest.raises(UserError, match="points are observed by all or random:FRACTION"):
            PointTask(wave(20), observe)
    with pytest.raises(UserError, match="nothing is held out"):
        PointTask(wave(20), "random:1")


def test_a_value_depends_on_its_place_alone() -> None:
    field = build("siren", in_dim=2, out_dim=1, width=32, depth=2)
    x = torch.rand(130, 2) * 2 - 1
    whole = sample_points(field, x)
    for rows in (slice(0, 1), slice(5, 70), slice(129, 130)):
        assert torch.equal(sample_points(field, x[rows]), whole[rows])


def test_mini_batches_visit_every_point() -> None:
    task = PointTask(wave(64))
    visited = torch.cat([torch.cat([p for p in task.pieces(s, 0, 16, 8) if isinstance(p, Tensor)]) for s in range(4)])
    assert sorted(visited.tolist()) == list(range(64))


def test_no_weight_at_all_is_refused() -> None:
    signal = PointSignal(np.array([[0.0], [1.0]]), np.array([[0.0], [5.0]]), np.array([0.0, 0.0]))
    with pytest.raises(UserError, match="every seen point has weight 0"):
        PointTask(signal)


@pytest.mark.filterwarnings("error")
def test_scores_that_no_float_holds_are_infinite() -> None:
    target = np.array([[-1e200], [1e200], [0.0]])
    scores = point_scores(target / 2, target, np.array([1.0]), ["t"])
    assert scores["rmse"] == math.inf
    assert scores["psnr"] == -math.inf
