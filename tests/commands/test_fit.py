"""`alfilter fit`: one JSON object, a whole run folder, every kind of signal; `info` about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import FILES, SIZES, TINY, alfilter, picture, without_figures

from alfilter.signals import read_image

KEYS = {"method", "signal", "steps", "seconds", "params", "metrics", "heldout", "estimate", "until", "model"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any], str]:
    """A finished run with all its pictures: signal, folder, result, stderr."""
    home = tmp_path_factory.mktemp("run")
    source, folder = picture(home / "photo.png"), home / "out"
    code, out, err = alfilter("fit", source, "--steps", "40", "--out", folder, "--json", *TINY)
    assert code == 0, err
    assert out.count("\n") == 1
    return source, folder, json.loads(out), err


def test_fit_prints_one_json_object(run: tuple[Path, Path, dict[str, Any], str]) -> None:
    source, folder, result, err = run
    assert set(result) == KEYS
    assert (result["method"], result["signal"], result["steps"]) == ("al-grid", str(source), 40)
    assert set(result["metrics"]) == {"psnr", "ssim"}
    assert result["heldout"] is None
    assert result["metrics"]["psnr"] > 10
    assert result["model"] == str(folder / "model.safetensors")
    assert result["params"] == 3 * (12 * 10) * 4 + 8 * 8 + 12 * 16 + 16 + 16 * 3 + 3  # three levels, α, 12 → 16 → 3
    assert "report.html" in err
    assert "dB" in err


def test_the_run_folder(run: tuple[Path, Path, dict[str, Any], str]) -> None:
    _, folder, result, _ = run
    held = {file.name for file in folder.iterdir()}
    assert set(FILES) <= held
    assert not [name for name in held if name.startswith((".", "checkpoint"))]
    assert {k: v for k, v in json.loads((folder / "metrics.json").read_text()).items() if k in KEYS} == result
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, 41))
    config = json.loads((folder / "config.json").read_text())
    assert (config["method"], config["options"]["levels"], config["training"]["steps"]) == ("al-grid", 3, 40)
    assert "http" not in (folder / "report.html").read_text().split("</style>")[-1].split("<svg")[0]


def test_methods_without_alpha_draw_none(tmp_path: Path) -> None:
    source = picture(tmp_path / "photo.png")
    code, out, err = alfilter("fit", source, "--method", "siren", "--steps", "3", "--out", tmp_path / "out", *SIZES)
    assert code == 0, err
    assert (tmp_path / "out" / "report.html").exists()
    assert not (tmp_path / "out" / "alpha.png").exists()
    rows = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert float(rows["psnr"]) > 0
    assert (rows["steps"], rows["model"]) == ("3", str(tmp_path / "out" / "model.safetensors"))


def test_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    monkeypatch.chdir(tmp_path)
    picture(tmp_path / "cat.photo.png")
    assert alfilter("fit", "cat.photo.png", "--steps", "1", "--quiet", *TINY).code == 0
    assert (tmp_path / "runs" / "cat.photo-al-grid" / "report.html").exists()


KINDS = [
    ("gray", 9, 7, 1, 8),
    ("gray+alpha", 9, 7, 2, 8),
    ("rgb", 7, 9, 3, 8),
    ("rgba", 7, 9, 4, 8),
    ("16-bit gray", 6, 6, 1, 16),
    ("16-bit rgba", 6, 6, 4, 16),
    ("2x2", 2, 2, 3, 8),
    ("wide", 2, 300, 3, 8),
    ("tall", 300, 2, 1, 8),
]


@pytest.mark.parametrize(("height", "width", "channels", "bits"), [k[1:] for k in KINDS], ids=[k[0] for k in KINDS])
def test_every_kind_fits_and_renders_back(
    height: int, width: int, channels: int, bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if height > 2:  # the smallest picture must be drawable too
        without_figures(monkeypatch)
    source, folder = picture(tmp_path / "photo.png", height, width, channels, bits), tmp_path / "out"
    assert alfilter("fit", source, "--steps", "30", "--out", folder, "--quiet", *TINY).code == 0
    again = tmp_path / "again.png"
    assert alfilter("render", folder / "model.safetensors", again).out == f"{again} {width}x{height}\n"
    rendered, original = read_image(again), read_image(source)
    assert (rendered.data.shape, rendered.bits) == (original.data.shape, original.bits)
    assert np.array_equal(rendered.data, read_image(folder / "reconstruction.png").data)
    error = rendered.values() - original.values()
    assert float(error.square().mean()) < 0.2


def test_a_perfect_fit_is_still_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    from alfilter.evaluate import Scores

    monkeypatch.setattr("alfilter.tasks.grid.psnr", lambda *pair: float("inf"))
    words = ("--steps", "1", "--out", tmp_path / "out", *TINY)
    out = alfilter("fit", picture(tmp_path / "photo.png"), *words, "--json").out
    assert json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))["metrics"]["psnr"] is None
    assert "infinite" in alfilter("fit", tmp_path / "photo.png", *words, "--overwrite").out
    assert Scores({"psnr": 1.0}, {"psnr": float("inf")}).plain() == {
        "metrics": {"psnr": 1.0},
        "heldout": {"psnr": None},
        "estimate": None,
    }


def test_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    words = ("--budget", "0.6s", "--out", tmp_path / "out", "--json", *TINY)
    result = json.loads(alfilter("fit", picture(tmp_path / "photo.png"), *words).out)
    lines = [json.loads(line)["seconds"] for line in (tmp_path / "out" / "history.jsonl").read_text().splitlines()]
    assert result["seconds"] >= 0.6
    assert lines[-1] == result["seconds"]
    assert all(earlier <= 0.6 for earlier in lines[:-1])  # it ended with the first step that passed the budget


def test_info(run: tuple[Path, Path, dict[str, Any], str]) -> None:
    _, folder, result, _ = run
    facts = json.loads(alfilter("info", folder / "model.safetensors", "--json").out)
    assert (facts["method"], facts["preset"], facts["params"]) == ("al-grid", "default", result["params"])
    assert (facts["signal"]["shape"], facts["signal"]["channels"], facts["signal"]["bits"]) == ([12, 10], 3, 8)
    words = alfilter("info", folder / "model.safetensors").out
    assert "options.levels          3" in words
    assert "signal.mode             RGB" in words
