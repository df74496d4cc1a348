"""The noisy signals are those of their source, and every row is scored against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.experiments.compare import noise
from alfilter.experiments.compare.noise import CHOSEN, CURVES, GROUNDS, execute, problem, runs, smoothed, truth
from alfilter.experiments.study import Run


def test_the_signals_by_hand() -> None:
    t = np.array([0.05, 0.11, 0.9])
    assert truth("blocks", t) == pytest.approx([0.0, 4.0, noise._HEIGHTS.sum()])
    peak = truth("bumps", np.array([0.65]))[0]
    assert peak == pytest.approx(4.3, abs=0.05)
    assert truth("doppler", np.array([0.5]))[0] == pytest.approx(0.5 * np.sin(2.1 * np.pi / 0.55))


@pytest.mark.parametrize("signal", [CURVES[0], GROUNDS[1]])
def test_the_noise_is_as_large_as_it_says(signal: str) -> None:
    task, clean, spread = problem(signal, 1)
    assert np.std(task.signal.measured - clean) == pytest.approx(spread, rel=0.1)
    if signal in CURVES:
        assert (clean.std(), spread) == (pytest.approx(7.0), 1.0)
        return
    assert (task.count, spread) == (pytest.approx(len(clean) / 10, rel=0.01), 60.0)
    rows = noise.scored(task)
    assert task.seen is not None
    assert not set(rows.tolist()) & set(task.seen.tolist())


@pytest.mark.parametrize("dims", [1, 2])
def test_smoothing_splines_smooth(dims: int) -> None:
    draw = np.random.default_rng(0)
    places = np.sort(draw.random((400, dims)), axis=0) if dims == 1 else draw.random((400, dims))
    clean = np.sin(5 * places.sum(1, keepdims=True))
    noisy = clean + 0.5 * draw.standard_normal(clean.shape)
    assert np.sqrt(np.mean((smoothed(places, noisy, places) - clean) ** 2)) < 0.25


def test_runs_are_named_once_and_every_signal_has_all_rows_of_the_first_seed() -> None:
    rows = runs()
    assert len({run.name for run in rows}) == len(rows)
    first = [run for run in rows if run.seed == noise.SEEDS[0]]
    for signal in (*CURVES, *GROUNDS):
        groups = {run.group for run in first if run.image == signal}
        assert groups == {*noise.OURS, *noise.OTHERS, *([CHOSEN] if signal in CURVES else [])}


def test_every_kind_of_row_is_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "COUNT", 64)
    monkeypatch.setattr(noise, "CHANGES", ({"grid": 0.5},))
    signal, rows = "heavisine 1:7", ("al-grid, noisy", CHOSEN, "smoothing splines")
    lines = [execute(Run(name, signal, method=name, seed=1), "") for name in rows]
    assert all(0 < line["metrics"]["error"] < 20 for line in lines)
    text = noise.summarise(lines)
    assert all(f"| {name} | 1 |" in text for name in rows)
