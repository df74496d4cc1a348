"""The exported page of volumes and videos: torch's values on every plane, by both engines; moved and played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.export.test_page_in_browser import TOLERANCE, browser, evaluated, folder, opened
from tests.support.chromium import wait_until

import alfilter as al
from alfilter.methods import Field

__all__ = ["browser", "folder"]  # fixtures
SHAPE = (5, 7, 9)
METHODS: dict[str, dict[str, Any]] = {
    "al-sine": {"preset": "default", "width": 19, "depth": 2},
    "al-grid": {"levels": 4, "base": 2, "finest": 9, "table": 6, "width": 19},  # hashed levels, too
    "mfn-gabor": {"scale": 16.0, "width": 19, "depth": 2},
    "poly-inr": {"width": 19, "levels": 3},
    "octree": {"width": 19},
    "fourier-features": {"features": 21, "width": 19, "depth": 2},
}


def cube(method: str, kind: str = "volume") -> Field:
    field = al.build(method, in_dim=3, out_dim=1, samples=SHAPE, seed=3, **METHODS[method])
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        if method.startswith("al-"):
            grid = field.encoding.alpha  # type: ignore[union-attr]
            reach = field.encoding.axis / grid.unit
            grid.values.copy_(torch.rand(grid.values.shape, generator=generator) * reach)
        if method in ("al-grid", "octree"):
            field.encoding.table.uniform_(-1, 1, generator=generator)  # type: ignore[union-attr]
    field.set_range(torch.zeros(1), torch.ones(1))
    field.signal = {"kind": kind, "shape": list(SHAPE), "channels": 1, "mode": "1ch", "bits": 8, "low": 0.0,
                    "high": 255.0, "rate": 20.0}  # fmt: skip
    return field.eval()


@pytest.mark.parametrize("engine", ["webgl", "script"])
def test_every_plane_has_torchs_values(browser: Any, folder: Path, engine: str) -> None:
    x = torch.rand(200, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    for method in METHODS:
        field = cube(method)
        page = opened(browser, folder, field, engine, (320, 200))
        for plane, (axes, held) in enumerate((((1, 2), 0), ((0, 2), 1), ((0, 1), 2))):
            place = 1.25 + plane
            page.evaluate(f"() => {{ alfilter.sections.turn({plane}); alfilter.sections.hold({held}, {place}); }}")
            whole = torch.full((len(x), 3), 2 * place / (SHAPE[held] - 1) - 1)
            whole[:, axes[0]], whole[:, axes[1]] = x[:, 0], x[:, 1]
            with torch.inference_mode():
                expected = field(whole).numpy()
            worst = float(np.abs(evaluated(page, x, 1) - expected).max())
            assert worst < TOLERANCE / 10, f"{method}, plane {plane} by {engine}: {worst}"
            with torch.inference_mode():
                row, column = (SHAPE[axis] - 1 for axis in axes)
                corner = torch.full((3,), 1.0).index_fill(0, torch.tensor([held]), float(whole[0, held]))
                value = float(field(corner))
            assert page.evaluate(f"alfilter.at({row}, {column}).values[0]") == pytest.approx(value, abs=TOLERANCE / 10)
        assert page.complaints == []
        page.close()


def test_a_video_moves_and_plays(browser: Any, folder: Path) -> None:
    field = cube("al-grid", "video")
    field.spec = {**field.spec, "method": "video"}
    page = opened(browser, folder, field, "script", (900, 600))
    assert page.inner_text("#h-plane") == "Plane of the video"
    assert "9 × 7 × 5 pixels" in page.inner_text("header")
    wait_until(page, "alfilter.still")
    page.fill("#held-0", "1")
    assert page.inner_text("#held-out-0") == "1 of 0 to 4, 0.05 s"
    wait_until(page, "alfilter.still")
    page.click("#play-time")
    wait_until(page, "alfilter.sections.playing === null && alfilter.sections.places[0] === 4 && alfilter.still")
    with torch.inference_mode():
        expected = float(field(torch.tensor([[1.0, 0.0, 0.0]])).clamp(0, 1))
    zoom, top, left = page.evaluate("[alfilter.view.zoom, alfilter.corner().top, alfilter.corner().left]")
    row, column = round(3.5 * zoom) - top, round(4.5 * zoom) - left
    shown = page.evaluate(f"stage.getContext('2d').getImageData({column}, {row}, 1, 1).data[0]")
    assert shown / 255 == pytest.approx(expected, abs=0.03)
    assert "axis" not in page.get_attribute("#stage", "aria-label")
    assert "frame 4" in page.get_attribute("#stage", "aria-label")
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("engine", ["webgl", "script"])
def test_a_light_field_is_moved_through_its_views(browser: Any, folder: Path, engine: str) -> None:
    shape = (3, 4, 6, 8)
    field = al.build(
        "al-grid", in_dim=4, out_dim=3, samples=shape, levels=3, base=2, finest=6, table=6, width=19
    ).eval()
    with torch.no_grad():
        field.encoding.table.uniform_(-1, 1, generator=torch.Generator().manual_seed(5))  # type: ignore[operator,union-attr]
    field.set_range(torch.zeros(3), torch.ones(3))
    field.spec = {**field.spec, "method": "lightfield"}
    field.signal = {"kind": "lightfield", "shape": list(shape), "channels": 3, "mode": "RGB", "bits": 8, "low": 0.0,
                    "high": 255.0}  # fmt: skip
    page = opened(browser, folder, field, engine, (320, 200))
    x = torch.rand(100, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    page.evaluate("() => { alfilter.sections.hold(0, 1.25); alfilter.sections.hold(1, 3); }")
    views = torch.tensor([[1.25 / 2 * 2 - 1, 1.0]]).expand(len(x), 2)
    with torch.inference_mode():
        expected = field(torch.cat((views, x), 1)).numpy()
    assert np.abs(evaluated(page, x) - expected).max() < TOLERANCE / 10
    assert page.inner_text("#held-out-0") == "1.25 of 0 to 2, between"
    assert page.complaints == []
    page.close()
