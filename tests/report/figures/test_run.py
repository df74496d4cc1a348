"""Every figure is a PNG of a sensible size, whatever the shape of its input, and draws without a warning."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.support.pictures import SHAPES, opened

from alfilter.errors import UserError
from alfilter.report.figures import run as figures
from alfilter.report.figures.canvas import png_bytes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", SHAPES)
def test_error(shape: tuple[int, int]) -> None:
    opened(figures.error_figure(RNG.exponential(0.1, shape)))


@pytest.mark.parametrize("size", [1e-7, 3e-5, 0.1])
def test_no_power_of_ten_stands_above_the_bar(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def keep(figure: Any) -> bytes:
        data = png_bytes(figure)
        drawn.extend(axes.yaxis.get_offset_text().get_text() for axes in figure.axes)
        return data

    monkeypatch.setattr(figures, "png_bytes", keep)
    opened(figures.error_figure(RNG.exponential(size, (20, 30))))
    assert drawn == ["", ""]


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_error_without_a_scale_of_its_own(value: float) -> None:
    opened(figures.error_figure(np.full((8, 8), value)))


def line(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "psnr": 10.0 + step**0.5, "lr": {"network": 1e-3 * 0.99**step, "alpha": 0.0}, **more}


@pytest.mark.parametrize(
    "history",
    [
        [],
        [line(1)],
        [line(s) for s in (0, 1, 10, 1000)],
        [{"step": 1, "psnr": float("inf"), "lr": None}],
    ],
    ids=["empty", "one", "log", "not finite"],
)
def test_convergence(history: list[dict[str, Any]]) -> None:
    opened(figures.convergence_figure(history))


@pytest.mark.parametrize("shape", SHAPES)
def test_spectrum(shape: tuple[int, int]) -> None:
    target = RNG.uniform(0, 1, shape)
    opened(figures.spectrum_figure(target, 0.9 * target))
    opened(figures.spectrum_figure(target, target))


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(UserError, match=r"one shape \(H, W\), got \(2, 2\) and \(3, 3\)"):
        figures.spectrum_figure(np.zeros((2, 2)), np.zeros((3, 3)))


def test_same_numbers_same_bytes() -> None:
    error = RNG.uniform(0, 1, (8, 8))
    assert figures.error_figure(error) == figures.error_figure(error)


def test_matplotlib_waits_and_pyplot_never_comes() -> None:
    code = (
        "import sys, numpy as np, alfilter.report as r; assert 'matplotlib' not in sys.modules;"
        "r.error_figure(np.ones((4, 4))); assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
