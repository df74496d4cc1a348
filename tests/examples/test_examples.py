"""The examples run, and show what they say."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_picture_is_fitted_and_drawn_larger(tmp_path: Path) -> None:
    psnr = load("00_fit_a_picture").main(steps=30, out=str(tmp_path / "large.png"))
    assert psnr > 12
    assert (tmp_path / "large.png").stat().st_size > 1000


def test_alpha_is_drawn(tmp_path: Path) -> None:
    assert load("01_look_at_alpha").main(steps=6, folder=str(tmp_path)) > 8
    assert {path.name for path in tmp_path.iterdir()} == {"alpha.png", "scales.png"}


def test_an_own_encoding_trains() -> None:
    assert load("02_your_own_encoding").main(steps=80) > 12


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
