"""The examples run, and show what they say."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image
from tests.support.examples import EXAMPLES, load_module


def load(name: str) -> ModuleType:
    return load_module(EXAMPLES / f"{name}.py")


def test_a_picture_is_fitted_and_drawn_larger(tmp_path: Path) -> None:
    psnr = load("00_fit_a_picture").main(steps=30, out=str(tmp_path / "large.png"))
    assert psnr > 12
    assert (tmp_path / "large.png").stat().st_size > 1000


def test_alpha_is_drawn(tmp_path: Path) -> None:
    assert load("01_look_at_alpha").main(steps=6, folder=str(tmp_path)) > 8
    assert {path.name for path in tmp_path.iterdir()} == {"alpha.png", "scales.png"}


def test_an_own_encoding_trains() -> None:
    assert load("02_your_own_encoding").main(steps=80) > 12


def test_a_hidden_view_is_drawn(tmp_path: Path) -> None:
    assert load("04_a_light_field").main(steps=60, out=str(tmp_path / "view.png")) > 25
    with Image.open(tmp_path / "view.png") as view:
        assert view.size == (192, 192)


def test_scattered_points_are_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("05_scattered_points").main(count=200, steps=60) < 0.5
    assert capsys.readouterr().out.count("outside the measurements") == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
