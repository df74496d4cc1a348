"""Moments of a training, kept as models: where they fall, and that a resumed run has the same ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.support.commands import TINY, alfilter, complaint, picture, without_figures

from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.runs.snapshots import Snapshots, list_snapshots, moment, remove_snapshots
from alfilter.training import load


@given(st.integers(2, 60), st.integers(1, 5000))
def test_every_run_has_a_first_and_a_last(count: int, steps: int) -> None:
    due = [moment(step / steps, count) for step in range(steps + 1)]
    assert due[0] == 1
    assert due[-1] == count
    assert due == sorted(due)
    assert max(due[:-1]) < count


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)


@pytest.mark.usefixtures("quick")
def test_a_run_keeps_them_and_overwrite_removes_them(tmp_path: Path) -> None:
    photo, out = picture(tmp_path / "p.png"), tmp_path / "run"
    words = ("fit", photo, *TINY, "--steps", "25", "--out", out, "--quiet")
    assert alfilter(*words, "--snapshots", "6").code == 0
    files = list_snapshots(out)
    assert list(files) == [0, 1, 4, 9, 16, 25]
    assert files[25].read_bytes() == (out / "model.safetensors").read_bytes()
    assert files[4].read_bytes() != files[9].read_bytes()
    assert load(files[0]).signal["shape"] == [12, 10]
    (out / "snapshots" / ".7.safetensors.abcdefgh.safetensors").write_bytes(b"half")
    (out / "snapshots" / "notes.txt").write_text("mine")
    assert alfilter(*words, "--overwrite").code == 0
    assert [file.name for file in (out / "snapshots").iterdir()] == ["notes.txt"]


@pytest.mark.usefixtures("quick")
def test_a_resumed_run_has_the_same_ones(tmp_path: Path) -> None:
    from alfilter.runs import FitRequest, run

    photo = picture(tmp_path / "p.png")
    requests = [
        FitRequest(str(photo), "al-sine", options={"width": 8, "depth": 1, "levels": 3, "grid": 4},
              training={"steps": 40}, out=str(tmp_path / name), snapshots=7, checkpoint_every=0.0)
        for name in ("whole", "parts")
    ]  # fmt: skip
    run(requests[0])
    calls = iter(range(10_000))
    first = run(requests[1], should_stop=lambda: next(calls) > 30)
    assert 0 < first["steps"] < 40
    stray = tmp_path / "parts" / "snapshots" / "39.safetensors"
    stray.write_bytes(b"of a step the checkpoint does not know")
    half = tmp_path / "parts" / "snapshots" / ".0.safetensors.0123abcd.safetensors"
    half.write_bytes(b"what a kill left")
    from dataclasses import replace

    run(replace(requests[1], resume=True))
    whole, parts = (list_snapshots(tmp_path / name) for name in ("whole", "parts"))
    assert list(whole) == list(parts)
    assert not half.exists()
    assert all(whole[step].read_bytes() == parts[step].read_bytes() for step in whole)


def test_odd_counts_and_folders(tmp_path: Path) -> None:
    photo = picture(tmp_path / "p.png")
    assert "the number of snapshots must be between 2 and 500" in complaint(
        "fit", photo, "--snapshots", "1", "--out", tmp_path / "x"
    )
    field = build("siren", in_dim=2, out_dim=1, width=4, depth=1)
    with pytest.raises(UserError, match="between 2 and 500"):
        Snapshots(tmp_path, field, 501)
    (tmp_path / "snapshots").write_text("a file")
    assert list_snapshots(tmp_path) == {}
    remove_snapshots(tmp_path)
    with pytest.raises(UserError, match="cannot make"):
        Snapshots(tmp_path, field, 2).begin(0)
    assert torch.is_tensor(field.shift)
