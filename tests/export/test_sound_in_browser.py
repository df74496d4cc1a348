"""The exported page of a sound: torch's amplitudes by both engines, drawn as a wave and a spectrogram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.export.test_page_in_browser import TOLERANCE, browser, folder, opened
from tests.support.chromium import wait_until

import alfilter as al
from alfilter.methods import Field

__all__ = ["browser", "folder"]  # fixtures
COUNT = 3000


def tone(method: str) -> Field:
    field = al.build(method, in_dim=1, out_dim=2, samples=(COUNT,), seed=3, width=19, preset="default")
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        grid = field.encoding.alpha  # type: ignore[union-attr]
        grid.values.copy_(torch.rand(grid.values.shape, generator=generator) * field.encoding.axis / grid.unit)
        if method == "al-grid":
            field.encoding.table.uniform_(-1, 1, generator=generator)  # type: ignore[union-attr]
    field.set_range(torch.zeros(2), torch.ones(2))
    field.signal = {"kind": "audio", "shape": [COUNT], "channels": 2, "mode": "2ch", "bits": 16, "low": -1.0,
                    "high": 1.0, "rate": 8000, "format": "PCM"}  # fmt: skip
    return field.eval()


@pytest.mark.parametrize("engine", ["webgl", "script"])
def test_amplitudes_are_torchs(browser: Any, folder: Path, engine: str) -> None:
    for method in ("al-grid", "al-sine"):
        field = tone(method)
        page = opened(browser, folder, field, engine, (700, 420))
        assert "3,000 samples at 8,000 Hz, 0.38 s" in page.inner_text("header")
        wait_until(page, "alfilter.still")
        places = 10.5 + 2 * np.arange(1400)
        x = torch.from_numpy(2 * places / (COUNT - 1) - 1).float()[:, None]
        with torch.inference_mode():
            expected, encoding = 2 * field(x).numpy() - 1, field.encoding
            cut = encoding.local_frequency(x).numpy() / (COUNT - 1)  # type: ignore[operator,union-attr]
        values = page.evaluate("async () => [...await alfilter.load('field', 10.5, 2, 1400)]")
        assert np.abs(np.array(values).reshape(-1, 2) - expected).max() < TOLERANCE / 5
        values = page.evaluate("async () => [...await alfilter.load('cut', 10.5, 2, 1400)]")
        assert np.allclose(values, cut, rtol=1e-3)
        assert page.evaluate("alfilter.at(12.5).values[1]") == pytest.approx(float(expected[1, 1]), abs=TOLERANCE / 5)
        with torch.inference_mode():
            last = 2 * float(field(torch.ones(1, 1))[0, 0]) - 1
        assert page.evaluate("alfilter.stage.amplitude(2999, 0)") == pytest.approx(last, abs=TOLERANCE / 5)
        heights = page.evaluate(
            "['wave', 'spectrogram'].map((id) => document.getElementById(id).getBoundingClientRect().height)"
        )
        assert heights[0] == pytest.approx(heights[1], abs=2), "one above the other, each half of the stage"
        assert page.complaints == []
        page.close()


def test_the_levels_that_pass_are_said(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, tone("al-grid"), "script", (700, 420))
    filtered = "{ axis: 'level', unit: 'sample', levels: 2, channels: 2, frequencies: [0.01, 0.5] }"
    say = f"(response) => sayBand({filtered}, 0, response)"
    assert page.evaluate(say, [1, 0]) == "Here low frequencies pass: level 0 alone, .01 cycles per sample."
    assert page.evaluate(say, [0, 1]) == "Here high frequencies pass: level 1 alone, .5 cycles per sample."
    assert page.evaluate(say, [1, 1]) == "Here everything passes: levels 0 to 1, .01 to .5 cycles per sample."
    page.close()
