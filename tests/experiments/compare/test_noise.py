"""The noisy signals are those of their source, and every row is scored against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.experiments.compare import noise
from alfilter.experiments.compare.noise import SIGNALS, execute, problem, runs, smoothed, summarise, truth
from alfilter.experiments.study import Run


def test_the_signals_by_hand() -> None:
    t = np.array([0.05, 0.11, 0.9])
    assert truth("blocks", t) == pytest.approx([0.0, 4.0, noise._HEIGHTS.sum()])
    peak = truth("bumps", np.array([0.65]))[0]
    assert peak == pytest.approx(4.3, abs=0.05)
    assert truth("doppler", np.array([0.5]))[0] == pytest.approx(0.5 * np.sin(2.1 * np.pi / 0.55))


@pytest.mark.parametrize("name", ["blocks", "terrain 10 %"])
def test_the_noise_is_as_large_as_it_says(name: str) -> None:
    task, clean, spread = problem(name, 1)
    assert np.std(task.signal.measured - clean) == pytest.approx(spread, rel=0.1)
    if "terrain" in name:
        assert task.count == pytest.approx(float(name.split()[-2]) / 100 * len(clean), rel=0.01)


def test_smoothing_splines_smooth() -> None:
    draw = np.random.default_rng(0)
    for dims in (1, 2):
        places = np.sort(draw.random((400, dims)), axis=0) if dims == 1 else draw.random((400, dims))
        clean = np.sin(5 * places.sum(1, keepdims=True))
        noisy = clean + 0.5 * draw.standard_normal(clean.shape)
        assert np.sqrt(np.mean((smoothed(places, noisy, places) - clean) ** 2)) < 0.25


def test_every_signal_has_every_row_and_the_table_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = runs()
    assert len({run.name for run in rows}) == len(rows) == len(SIGNALS) * 6
    monkeypatch.setattr(noise, "COUNT", 64)
    monkeypatch.setitem(noise.OURS, "al-grid, noisy", ("noisy", {}, {"steps": 20}))
    lines = [
        execute(Run(name, "heavisine", method=name, seed=1), "") for name in ("al-grid, noisy", "smoothing splines")
    ]
    assert all(0 < line["metrics"]["error"] < 20 for line in lines)
    assert "| smoothing splines | 1 |" in summarise(lines)
