"""`alfilter export`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import alfilter, complaint

from alfilter.methods import build
from alfilter.training import save

FACTS = {"kind": "image", "shape": [6, 8], "channels": 3, "mode": "RGB", "bits": 8, "low": 0, "high": 255}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    field = build("siren", in_dim=2, out_dim=3, width=4)
    field.signal = {**FACTS, "observe": "all", "observe_seed": 0}
    save(field, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_a_page(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, err = alfilter("export", model, page, "--title", "My field")
    assert (code, err) == (0, "")
    assert out == f"{page} {page.stat().st_size:,} bytes\n"
    assert "<title>My field" in page.read_text()


def test_a_large_page_says_that_it_is_rounded(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = {"file": "m.html", "bytes": 25_000_000, "method": "al-grid", "bits": 8}
    monkeypatch.setattr("alfilter.export.export_file", lambda *words: written)
    assert alfilter("export", model, tmp_path / "m.html").out == (
        "m.html 25,000,000 bytes, its table rounded to 8 bits\n"
    )


def test_a_graph_says_how_near_it_is(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    code, out, _ = alfilter("export", model, tmp_path / "m.onnx", "--json")
    line = json.loads(out)
    assert code == 0
    assert line["bytes"] == (tmp_path / "m.onnx").stat().st_size
    assert line["difference"] < 1e-4
    assert ", within " in alfilter("export", model, tmp_path / "m.onnx").out


def test_an_unknown_ending_is_refused(model: Path, tmp_path: Path) -> None:
    assert ".onnx" in complaint("export", model, tmp_path / "m.txt")
    assert not (tmp_path / "m.txt").exists()
