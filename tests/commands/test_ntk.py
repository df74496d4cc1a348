"""`alfilter ntk`: a figure and numbers of a method or a model, and its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import alfilter, complaint

from alfilter.commands.ntk import _preset
from alfilter.methods import build
from alfilter.training import save

TINY = ("--set", "width=8", "--set", "depth=1", "--set", "grid=4", "--points", "16", "--threads", "1")


def test_a_method_against_the_baseline(tmp_path: Path) -> None:
    code, out, err = alfilter("ntk", "--method", "al-relu", *TINY, "--out", tmp_path / "k", "--json")
    assert code == 0, err
    line = json.loads(out)
    assert (line["method"], line["model"], line["points"], line["parameters"]) == ("al-relu", None, 16, "both")
    assert line["baseline"]["name"] == "pe-mlp"
    assert set(line["retention"]) == {"first", "low", "middle", "tail"}
    assert 1 <= line["effective_rank"] <= 16
    assert (tmp_path / "k" / "ntk.png").read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((tmp_path / "k" / "ntk.json").read_text())
    assert {name: len(values) for name, values in numbers["spectra"].items()} == {"al-relu": 16, "pe-mlp": 16}


def test_a_model_and_a_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo").mkdir()
    save(build("al-sine", in_dim=2, out_dim=1, width=8, depth=1, grid=4), tmp_path / "photo" / "model.safetensors")
    words = ("ntk", "photo/model.safetensors", "--points", "8", "--baseline", "none", "--parameters", "encoding")
    code, out, err = alfilter(*words)
    assert code == 0, err
    assert "effective rank" in out
    assert (tmp_path / "runs" / "ntk-photo" / "ntk.png").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alfilter.commands.ntk.os.access", lambda *arguments: False)
    monkeypatch.setattr("alfilter.commands.ntk._measure", lambda *arguments: pytest.fail("it was measured"))
    message = complaint("ntk", "--method", "siren", "--out", tmp_path / "new" / "folder")
    assert f"but {tmp_path} cannot be written; name one with --out" in message


def test_a_method_without_the_papers_setting_takes_its_default() -> None:
    assert (_preset("al-sine"), _preset("al-grid")) == ("paper", "default")


def test_mistakes(tmp_path: Path) -> None:
    assert "give one MODEL or one --method" in complaint("ntk")
    assert "between 8 and 8192, got 3" in complaint("ntk", "--method", "siren", "--points", "3")
    assert "there is no method 'sirn'" in complaint("ntk", "--method", "sirn")
    assert "no trained parameters" in complaint("ntk", "--method", "siren", "--parameters", "encoding", "--points", "8")
    model = tmp_path / "m.safetensors"
    save(build("siren", in_dim=3, out_dim=1, width=8), model)
    assert "--set belongs to --method" in complaint("ntk", model, "--set", "width=8")
    (tmp_path / "file").touch()
    assert "file is a file; name another with --out" in complaint(
        "ntk", "--method", "siren", "--out", tmp_path / "file"
    )
    message = complaint("ntk", "--method", "siren", "--baseline", model, "--points", "8")
    assert "the baseline maps 3 coordinates to 1 values, the model 2 to 3" in message
