"""Fitting a grid of samples: which are seen, what the loss is, the lazy path."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.commands import picture

from alfilter.methods import build
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask, ImageTask
from alfilter.tasks import grid as fit_module
from alfilter.training import fit


def signal(height: int = 6, width: int = 7, channels: int = 3) -> GridSignal:
    return GridSignal(np.random.default_rng(1).integers(0, 256, (height, width, channels), dtype=np.uint8))


def test_a_picture_worked_by_hand() -> None:
    task = ImageTask(GridSignal(np.array([[[0], [255]], [[51], [102]]], dtype=np.uint8)))
    x, y = task.load(slice(0, 4))
    assert x.tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    assert y.flatten().tolist() == pytest.approx([0, 1, 0.2, 0.4])
    assert task.loss(torch.zeros(4, 1), y).item() == pytest.approx(0 + 1 + 0.04 + 0.16)
    assert task.quality(0.01) == pytest.approx(20)
    assert task.quality(0.0) == 200
    scores = task.evaluate(lambda x: torch.full((len(x), 1), 0.2))
    assert scores.metrics["psnr"] == pytest.approx(-10 * math.log10((0.04 + 0.64 + 0 + 0.04) / 4), abs=1e-5)
    assert scores.heldout is None


def test_seen_and_held_out_are_scored_apart() -> None:
    grid = signal(4, 5)
    task = ImageTask(grid, "every:2")
    assert task.count == 2 * 3
    wrong = grid.values().view(4, 5, 3).clone()
    wrong[1::2] += torch.where(wrong[1::2] > 0.5, -0.1, 0.1)  # rows that were not seen
    scores = task.compare(wrong, task.target())
    assert scores.metrics["psnr"] == math.inf
    assert scores.heldout is not None
    assert scores.heldout["psnr"] == pytest.approx(-10 * math.log10(0.01 * 10 / 14), abs=1e-4)


def test_observing_everything_holds_out_nothing() -> None:
    assert ImageTask(signal(), "every:1").seen is None
    assert ImageTask(signal(), "random:1").seen is None


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["all", "every:2", "random:0.5"]),
    st.one_of(st.none(), st.integers(1, 60)),
    st.integers(1, 50),
    st.integers(0, 9),
)
def test_pieces_make_up_the_batch(observe: str, batch: int | None, micro: int, step: int) -> None:
    task = GridTask(signal(), observe, seed=3)
    pieces = task.pieces(step, 1, batch, micro)
    chunks = [task.load(piece) for piece in pieces]
    assert all(len(x) == len(y) <= micro for x, y in chunks)
    assert sum(len(x) for x, _ in chunks) == task.batch_size(batch)
    rows = torch.cat([torch.cat(chunk, dim=1) for chunk in chunks])
    known = torch.cat((task.signal.coords(), task.signal.values()), dim=1)
    known = known if task.seen is None else known[task.seen]
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert all((row == known).all(1).any() for row in rows)


@pytest.mark.parametrize("observe", ["all", "every:2"])
@pytest.mark.parametrize("batch", [None, 10])
def test_the_lazy_path_gives_the_same(observe: str, batch: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    ready = ImageTask(signal(), observe)
    monkeypatch.setattr(fit_module, "_CACHED", 0)
    lazy = ImageTask(signal(), observe)
    assert ready._ready is not None
    assert lazy._ready is None
    for step in (0, 5):
        pairs = zip(ready.pieces(step, 2, batch, 4), lazy.pieces(step, 2, batch, 4), strict=True)
        for a, b in pairs:
            assert all(torch.equal(p, q) for p, q in zip(ready.load(a), lazy.load(b), strict=True))
    fields = [build("al-relu", in_dim=2, out_dim=3, width=8, depth=1, levels=2, grid=4) for _ in range(2)]
    for field, task in zip(fields, (ready, lazy), strict=True):
        fit(field, task, steps=3, batch=batch, micro=8)
    assert all(torch.equal(a, b) for a, b in zip(fields[0].parameters(), fields[1].parameters(), strict=True))


def test_from_file(tmp_path: Path) -> None:
    task = ImageTask.from_file(picture(tmp_path / "photo.png", 5, 4, 2), "random:0.5", seed=7)
    facts = task.describe()
    assert (task.in_dim, task.out_dim, task.samples, task.count) == (2, 2, (5, 4), 10)
    assert (facts["observe"], facts["observe_seed"], facts["observed"], facts["shape"]) == ("random:0.5", 7, 10, [5, 4])
    other = ImageTask.from_file(picture(tmp_path / "other.png", 5, 4, 2, seed=1)).describe()
    assert facts["sha256"] != other["sha256"]
    low, high = task.output_range()
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])
