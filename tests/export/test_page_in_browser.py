"""The exported page in a real browser: the same numbers as torch, by both engines, without a network."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.support.chromium import chromium, wait_until

import alfilter as al
from alfilter.core import band_response
from alfilter.export import export_file
from alfilter.export.program import program_of
from alfilter.export.steps import packed
from alfilter.methods import Field

SHAPE = (24, 36)
SMALL = {"width": 19, "depth": 2}  # not a multiple of four
METHODS: dict[str, dict[str, Any]] = {
    "al-sine": {"preset": "default", **SMALL},
    "al-relu": {"levels": 5, "bandwidth": 6.0, "kappa": 2.0, **SMALL},
    "siren": {"preset": "default", **SMALL},
    "pe-mlp": SMALL,
    "fourier-features": {"features": 21, **SMALL},
    "gauss": SMALL,
    "wire": {"scale": 10.0, **SMALL},
    "hosc": {"learn_beta": True, **SMALL},
    "sinc": SMALL,
    "finer": SMALL,
    "mfn-fourier": {"scale": 64.0, **SMALL},
    "mfn-gabor": {"scale": 64.0, **SMALL},
    "bacon": {"width": 19},
    "poly-inr": {"width": 19, "levels": 5},
    "hash-grid": {"levels": 6, "base": 4, "finest": 36, "table": 6, **SMALL},
    "al-grid": {"levels": 6, "base": 4, "finest": 36, "table": 6, **SMALL},
    "octree": {"width": 19},
    "diner": SMALL,
}
TABLES = ("hash-grid", "al-grid", "octree", "diner")
TOLERANCE = 3 / 255


def small(method: str, channels: int = 3) -> Field:
    """A field with numbers everywhere: α differs from place to place."""
    field = al.build(method, in_dim=2, out_dim=channels, samples=SHAPE, seed=3, **METHODS[method])
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        if method.startswith("al-"):
            grid = field.encoding.alpha  # type: ignore[union-attr]
            reach = field.encoding.axis / grid.unit
            grid.values.copy_(torch.rand(grid.values.shape, generator=generator) * reach)
        field.network.biases[-1].uniform_(-1, 1, generator=generator) if hasattr(field.network, "biases") else None
        if method in TABLES:  # features start near 0, where nothing would be seen of them
            field.encoding.table.uniform_(-1, 1, generator=generator)  # type: ignore[union-attr]
            if method == "octree":  # a tree with holes, as a fit makes it
                rows = field.encoding.rows  # type: ignore[union-attr]
                there = torch.rand(rows.shape, generator=generator) < 0.6
                rows.copy_(torch.where(there, there.cumsum(0) - 1, -1).clamp(max=len(field.encoding.table) - 1))  # type: ignore[arg-type,union-attr]
    field.set_range(torch.zeros(channels), torch.ones(channels))
    field.signal = {"kind": "image", "shape": list(SHAPE), "channels": channels, "mode": "RGB", "bits": 8, "low": 0.0,
                    "high": 255.0, "observe": "all", "observe_seed": 0}  # fmt: skip
    return field.eval()


def places(count: int = 300) -> torch.Tensor:
    x = torch.rand(count, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    x[:4] = torch.tensor([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
    return x


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def opened(
    browser: Any, folder: Path, field: Field, engine: str, size: tuple[int, int] = (860, 420), **context: Any
) -> Any:
    """The page of a field, loaded without a word on the console and without a request."""
    path = folder / f"{field.spec['method']}.html"
    if not path.exists():
        export_file(field, path)
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **context)
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: page.complaints.append(request.url) if not request.url.startswith(("file:", "blob:")) else None,
    )
    page.goto(f"{path.as_uri()}#engine={engine}")
    wait_until(page, "!!window.alfilter")
    assert page.complaints == []
    return page


def evaluated(page: Any, x: torch.Tensor, channels: int = 3) -> np.ndarray[Any, Any]:
    return np.array(page.evaluate("points => alfilter.evaluate(points)", x.tolist())).reshape(-1, 4)[:, :channels]


@pytest.mark.parametrize("engine", ["webgl", "script"])
def test_every_engine_gives_torchs_values(browser: Any, folder: Path, engine: str) -> None:
    x, named = places(), {"webgl": "WebGL2", "script": "plain script"}[engine]
    for method in METHODS:
        field = small(method)
        page = opened(browser, folder, field, engine, (320, 200))
        assert page.evaluate("alfilter.engine").startswith(named)
        actual = evaluated(page, x)
        with torch.inference_mode():
            expected = field(x).numpy()
        worst = float(np.abs(actual - expected).max())
        assert worst < TOLERANCE / 10, f"{method} by {engine}: {worst}"
        assert page.complaints == []
        page.close()


@pytest.mark.parametrize("bits", [16, 8])
def test_a_rounded_table_gives_nearly_torchs_values(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    field, x = small("al-grid"), places()
    large = program_of(field).numbers.nbytes - 1 if bits == 16 else 1
    monkeypatch.setattr("alfilter.export.page.packed", lambda program: packed(program, large))
    line = export_file(field, tmp_path / "al-grid.html")
    assert line["bits"] == bits
    page = opened(browser, tmp_path, field, "script", (320, 200))
    assert f"rounded to {bits} bits" in page.content()
    with torch.inference_mode():
        expected = field(x).numpy()
    error = float(np.abs(evaluated(page, x) - expected).max())
    assert error < (1e-3 if bits == 16 else 2e-2)
    assert page.complaints == []
    page.close()


def test_the_canvas_shows_the_field_between_the_pixels(browser: Any, folder: Path) -> None:
    field = small("al-sine")
    page = opened(browser, folder, field, "script")
    page.evaluate("alfilter.setView({ zoom: 64, row: 11.3, column: 20.7 })")
    wait_until(page, "alfilter.still")
    box = page.evaluate("({ ...alfilter.corner(), width: stage.width, height: stage.height })")
    data = page.evaluate("stage.toDataURL().split(',')[1]")
    pixels = np.asarray(Image.open(BytesIO(base64.b64decode(data))).convert("RGB"), np.float64) / 255
    rows, columns = (np.arange(5, box[name], 37) for name in ("height", "width"))
    samples = [((places + 0.5 + box[corner]) / 64 - 0.5) for places, corner in ((rows, "top"), (columns, "left"))]
    axes = [torch.from_numpy((2 * s - (n - 1)) / (n - 1)).float() for s, n in zip(samples, SHAPE, strict=True)]
    with torch.inference_mode():
        expected = field(torch.cartesian_prod(*axes)).clamp(0, 1).reshape(len(rows), len(columns), 3).numpy()
    assert np.abs(pixels[np.ix_(rows, columns)] - expected).max() < TOLERANCE
    assert expected.std() > 0.01
    page.close()


def test_the_overview_is_a_mean(browser: Any, folder: Path) -> None:
    field = small("siren")
    page = opened(browser, folder, field, "script")
    page.evaluate("alfilter.setView({ zoom: 0.5 })")
    wait_until(page, "alfilter.still")
    left, top = (-page.evaluate(f"alfilter.corner().{side}") for side in ("left", "top"))
    shown = page.evaluate(
        f"[...stage.getContext('2d').getImageData({left}, {top}, {SHAPE[1] // 2}, {SHAPE[0] // 2}).data]"
    )
    axes = [torch.linspace(-1, 1, n) for n in SHAPE]
    with torch.inference_mode():
        whole = field(torch.cartesian_prod(*axes)).clamp(0, 1).view(SHAPE[0] // 2, 2, SHAPE[1] // 2, 2, 3)
    result = np.array(shown).reshape(SHAPE[0] // 2, SHAPE[1] // 2, 4)[..., :3] / 255
    assert np.abs(result - whole.mean((1, 3)).numpy()).max() < TOLERANCE
    page.close()


def test_the_cursor_says_what_the_library_says(browser: Any, folder: Path) -> None:
    field = small("al-relu")
    page = opened(browser, folder, field, "script")
    result = page.evaluate("alfilter.at(7.25, 30.5)")
    x = torch.tensor([[(2 * 7.25 - 23) / 23, (2 * 30.5 - 35) / 35]])
    encoding: Any = field.encoding
    with torch.inference_mode():
        alpha = encoding.alpha(x)
        response = band_response(alpha, 20, encoding.bandwidth, encoding.kappa)[0]
    assert result["alpha"] == pytest.approx(float(alpha), abs=1e-4)
    assert np.allclose(result["response"], response.numpy(), atol=1e-4)
    assert np.allclose(result["values"], field(x)[0].detach().numpy(), atol=1e-4)
    box = page.locator("#stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_until(page, "facts.textContent.includes('row 1')")
    assert "channels" in page.locator("#curve-text").inner_text()
    assert page.locator("#curve polyline").count() == 1
    page.close()


def test_hands_and_keys_move_the_view(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, small("siren"), "script")
    page.locator("#stage").focus()
    start = page.evaluate("({ ...alfilter.view })")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    after = page.evaluate("({ ...alfilter.view })")
    assert after["zoom"] == pytest.approx(2 * start["zoom"])
    assert after["column"] > start["column"]
    assert "row" in page.locator("#live").inner_text()
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + 200, box["y"] + 150
    page.mouse.move(x, y)
    place = "[(200 + alfilter.corner().left) / alfilter.view.zoom, (150 + alfilter.corner().top) / alfilter.view.zoom]"
    held = page.evaluate(place)
    page.mouse.wheel(0, -480)
    wait_until(page, f"alfilter.view.zoom > {after['zoom'] * 1.9}")
    zoom = page.evaluate("alfilter.view.zoom")
    assert np.allclose(page.evaluate(place), held, atol=2 / zoom)  # what is under the pointer stays there
    page.mouse.down()
    page.mouse.move(x + 60, y)
    page.mouse.up()
    assert page.evaluate(place)[0] == pytest.approx(held[0] - 60 / zoom, abs=2 / zoom)
    page.keyboard.press("0")
    assert page.evaluate("alfilter.view.zoom") == pytest.approx(start["zoom"])
    assert page.locator("#alpha-part").is_hidden()  # siren has no α
    assert page.complaints == []
    page.close()


def test_alpha_lies_over_the_picture(browser: Any, folder: Path) -> None:
    import matplotlib

    field = small("al-sine")
    page = opened(browser, folder, field, "script")
    page.evaluate("alfilter.setView({ zoom: 40, row: 10, column: 10 })")
    page.locator("#opacity").fill("100")
    wait_until(page, "alfilter.still")
    x, y = 333, 222
    shown = page.evaluate(f"[...stage.getContext('2d').getImageData({x}, {y}, 1, 1).data]")
    left, top = (page.evaluate(f"alfilter.corner().{side}") for side in ("left", "top"))
    row, column = (y + 0.5 + top) / 40 - 0.5, (x + 0.5 + left) / 40 - 0.5
    encoding: Any = field.encoding
    with torch.inference_mode():
        alpha = float(encoding.alpha(torch.tensor([[(2 * row - 23) / 23, (2 * column - 35) / 35]])))
        grid = encoding.alpha.values.numpy() * encoding.alpha.unit
    finest = float(encoding.level_frequencies()[-1])
    open_at = min(float(a) for a in torch.linspace(0, encoding.axis, 2001) if encoding.frequency(a) >= 0.9999 * finest)
    low, high = np.minimum(np.quantile(grid, (0.01, 0.99)), open_at)  # above, nothing is cut off any more
    expected = np.array(matplotlib.colormaps["viridis"](np.clip((alpha - low) / (high - low), 0, 1))[:3]) * 255
    assert np.abs(np.array(shown[:3]) - expected).max() <= 3
    page.close()


def test_a_map_has_its_first_coordinate_to_the_right(browser: Any, folder: Path) -> None:
    import matplotlib

    field = small("siren", 1)
    field.spec = {**field.spec, "method": "points"}
    field.signal = {"kind": "points", "coords": ["lon <°E>", "lat"], "values": ["temp"], "low": [5.0, 45.0],
                    "high": [11.0, 48.0], "value_low": [-10.0], "value_high": [30.0]}  # fmt: skip
    page = opened(browser, folder, field, "script", (1280, 720))
    wait_until(page, "alfilter.still")
    lon, lat = 9.2, 46.1
    x = torch.tensor([[(lon - 5) / 6 * 2 - 1, (lat - 45) / 3 * 2 - 1]])
    with torch.inference_mode():
        value = float(field(x))
    row, column = (1 - (lat - 45) / 3) * 255, (lon - 5) / 6 * 511
    actual = page.evaluate(f"alfilter.at({row}, {column})")
    assert actual["x"] == pytest.approx(x[0].tolist(), abs=1e-6)
    assert actual["values"] == pytest.approx([-10 + 40 * value], abs=1e-3)
    zoom, left, top = page.evaluate("[alfilter.view.zoom, alfilter.corner().left, alfilter.corner().top]")
    at = [int((place + 0.5) * zoom - first) for place, first in ((column, left), (row, top))]
    shown = page.evaluate(f"[...stage.getContext('2d').getImageData({at[0]}, {at[1]}, 1, 1).data]")[:3]
    expected = np.array(matplotlib.colormaps["viridis"](np.clip(value, 0, 1))[:3]) * 255
    assert np.abs(np.array(shown) - expected).max() <= 12  # a pixel may lie half a screen pixel from the place
    words = [page.locator(f"#axis-{axis}").evaluate("e => [...e.querySelectorAll('text')].map(t => t.textContent)")
             for axis in "xy"]  # fmt: skip
    assert words[0] == ["lon <°E>", "5", "6", "7", "8", "9", "10", "11"]
    assert words[1][0] == "lat"
    assert words[1][-1].startswith("48")
    ticks = page.locator("#axis-y .tick").evaluate_all("all => all.map(t => Number(t.getAttribute('y1')))")
    assert ticks == sorted(ticks, reverse=True)  # upwards
    assert page.locator("#value-name").inner_text() == "temp"
    assert (page.locator("#value-low").inner_text(), page.locator("#value-high").inner_text()) == ("-10", "30")
    box = page.locator("#stage").bounding_box()
    page.mouse.move(box["x"] + at[0], box["y"] + at[1])
    wait_until(page, "facts.textContent.includes('lon <°E> 9.')")
    assert page.complaints == []
    page.close()


def test_quick_zooms_leave_nothing_behind(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, small("al-sine"), "", (320, 240))
    assert page.evaluate("alfilter.engine").startswith("plain script")  # software graphics would be slower
    page.evaluate("(async () => { for (let i = 0; i < 200; i++) { alfilter.setView({ zoom: 2 + (i * 7) % 90 });"
                  " await new Promise((done) => setTimeout(done, 4)); } })()")  # fmt: skip
    assert page.evaluate("alfilter.tiles") <= 1200
    wait_until(page, "alfilter.still", 120)  # the last view still gets its tiles
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_shows_all_of_it(browser: Any, folder: Path, scheme: str) -> None:
    page = opened(browser, folder, small("al-sine"), "script", (375, 740), color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert (
        page.evaluate(
            "Math.min(...[...document.querySelectorAll('button')].map(b => b.getBoundingClientRect().height))"
        )
        >= 40
    )
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    stage = page.evaluate(
        "(({ top, bottom }) => [top, bottom])(document.querySelector('.stage').getBoundingClientRect())"
    )
    assert 0 <= stage[0] < stage[1] <= 500  # the picture stays in sight beside its controls
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (sum(int(c) for c in paper[4:-1].split(",")) > 600) == (scheme == "light")
    page.close()
