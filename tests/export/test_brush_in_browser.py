"""The exported page's brush: torch's values where it painted, the learned pixels elsewhere and after it is undone."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.export.test_page_in_browser import SHAPE, TOLERANCE, browser, evaluated, folder, opened, places, small
from tests.export.test_planes_in_browser import cube
from tests.support.chromium import wait_until

from alfilter.analysis import filter_of
from alfilter.analysis.structure import gradient_energy
from alfilter.export.program import program_of
from alfilter.export.steps import packed
from alfilter.methods import Field
from alfilter.viewer.steering import Brush, paint, steered

__all__ = ["browser", "folder"]  # fixtures
ROW, COLUMN, RADIUS, ZOOM = 11.0, 17.0, 7.0, 12


def lively() -> Field:
    """A grid whose levels are seen: ten times the contrast of `small`, around a middle grey."""
    field = small("al-grid")
    field.spec = {**field.spec, "method": "lively"}
    x = torch.cartesian_prod(*(torch.linspace(-1, 1, n) for n in SHAPE))
    network: Any = field.network
    with torch.no_grad():
        network.weights[-1].mul_(10)
        network.biases[-1].add_(0.5 - field(x).mean(0))
    return field


def dab(page: Any, amount: float, row: float = ROW, column: float = COLUMN, radius: float = RADIUS) -> int:
    """One dab of a brush of a given size and strength, as a gesture of its own; the tiles to be evaluated again."""
    stale: int = page.evaluate(
        "([amount, row, column, radius]) => { const { steering } = alfilter; document.getElementById(amount < 0 ?"
        " 'lower' : 'raise').checked = true; Object.assign(steering, { radius, amount: Math.abs(amount) });"
        " steering.gesture.once([column, row]); return alfilter.shown.filter((step) => !(step <= 1)).length; }",
        [amount, row, column, radius],
    )
    return stale


def painted(field: Field, amounts: list[float]) -> Field:
    """The field as the library steers it, with a node of the offset on every sample."""
    offset, unit = torch.zeros(*SHAPE, 1), filter_of(field).alpha.unit
    for amount in amounts:
        offset, _ = paint(offset, torch.tensor([[ROW, COLUMN]]), Brush(RADIUS, amount / unit), SHAPE)
    return steered(field, offset)


def near(browser: Any, folder: Path, field: Field, engine: str = "script", **context: Any) -> Any:
    """A page that shows the whole picture, and some paper around it."""
    page = opened(browser, folder, field, engine, **context)
    page.evaluate(f"alfilter.setView({{ zoom: {ZOOM}, row: 11.5, column: 17.5 }})")
    wait_until(page, "alfilter.still")
    return page


def pixels(page: Any) -> np.ndarray[Any, Any]:
    """What the canvas shows, without the ring of the brush or the cross of the keys."""
    page.mouse.move(*spot(page))
    page.mouse.move(850, 10)
    wait_until(page, "alfilter.still")
    data = base64.b64decode(page.evaluate("stage.toDataURL().split(',')[1]"))
    return np.asarray(Image.open(BytesIO(data)).convert("RGBA"), np.float64)


def away(page: Any, shown: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far every pixel is from the brush's middle, in samples."""
    left, top = page.evaluate("[alfilter.corner().left, alfilter.corner().top]")
    rows, columns = np.mgrid[: shown.shape[0], : shown.shape[1]]
    result: np.ndarray[Any, Any] = np.hypot(
        (rows + 0.5 + top) / ZOOM - 0.5 - ROW, (columns + 0.5 + left) / ZOOM - 0.5 - COLUMN
    )
    return result


def spot(page: Any, row: float = ROW, column: float = COLUMN) -> tuple[float, float]:
    """Where a place of the picture is on the screen."""
    box = page.locator("#stage").bounding_box()
    left, top = page.evaluate("[alfilter.corner().left, alfilter.corner().top]")
    return box["x"] + (column + 0.5) * ZOOM - left, box["y"] + (row + 0.5) * ZOOM - top


@pytest.mark.parametrize("engine", ["webgl", "script"])
@pytest.mark.parametrize("method", ["al-grid", "al-sine", "al-relu"])
def test_what_is_painted_is_what_the_library_paints(browser: Any, folder: Path, method: str, engine: str) -> None:
    field, x = small(method), places()
    page = opened(browser, folder, field, engine, (320, 240))
    learned = evaluated(page, x)
    axis = float(filter_of(field).axis)
    for amounts in ([-0.3 * axis], [-0.3 * axis, 0.1 * axis], [-0.3 * axis, 0.1 * axis, -20 * axis]):
        dab(page, amounts[-1])
        with torch.inference_mode():
            expected = painted(field, amounts)(x).numpy()
        assert np.abs(evaluated(page, x) - expected).max() < TOLERANCE / 10, amounts
    there = (x + 1) / 2 * (torch.tensor(SHAPE) - 1)
    outside = (there - torch.tensor([ROW, COLUMN])).norm(dim=-1).numpy() >= RADIUS
    assert np.array_equal(evaluated(page, x)[outside], learned[outside])
    assert np.abs(evaluated(page, x) - learned)[~outside].max() > 0.01
    dab(page, 200 * axis)
    assert np.array_equal(evaluated(page, x), learned)
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("engine", ["webgl", "script"])
def test_a_stroke_blurs_its_circle_and_can_be_brought_back(browser: Any, folder: Path, engine: str) -> None:
    page = near(browser, folder, lively(), engine)
    before = pixels(page)
    distance = away(page, before)
    page.check("#brush")
    page.fill("#strength", "100")
    page.evaluate(f"() => {{ alfilter.steering.radius = {RADIUS}; }}")
    for kind in ("lower", "raise"):
        page.locator(f"#{kind}").dispatch_event("click")
        page.mouse.move(*spot(page))
        page.mouse.down()
        page.wait_for_timeout(700)  # a brush held still goes on painting: several dabs, one gesture
        page.mouse.up()
        after = pixels(page)
        assert np.array_equal(after[distance > RADIUS], before[distance > RADIUS])
        if kind == "lower":
            energies = [gradient_energy(torch.from_numpy(shown[..., :3].mean(-1))).numpy() for shown in (before, after)]
            inside = distance < RADIUS / 2
            assert energies[1][inside].mean() < 0.5 * energies[0][inside].mean()
            assert "The cut-off is lowered" in page.inner_text("#steer-said")
        else:
            assert "up to what was learned" in page.inner_text("#steer-said")
            dab(page, 1000)  # however long the strokes were, there is no more to bring back
            assert np.array_equal(pixels(page), before)
    page.close()


def test_strokes_are_undone_one_by_one_and_reset_at_once(browser: Any, folder: Path) -> None:
    page = near(browser, folder, lively())
    assert [page.is_disabled(f"#{name}") for name in ("undo", "reset", "peek")] == [True, True, True]
    states = [pixels(page)]
    for row, column in ((6.0, 8.0), (15.0, 25.0)):
        dab(page, -3.0, row, column)
        states.append(pixels(page))
        assert np.abs(states[-1] - states[-2]).max() > 10
    page.evaluate("alfilter.steering.peek(true)")
    assert np.array_equal(pixels(page), states[0])
    page.evaluate("alfilter.steering.peek(false)")
    assert np.array_equal(pixels(page), states[2])
    page.click("#undo")
    assert np.array_equal(pixels(page), states[1])
    page.click("#undo")
    assert np.array_equal(pixels(page), states[0])
    assert [page.is_disabled(f"#{name}") for name in ("undo", "reset", "peek")] == [True, True, True]
    dab(page, 3.0)
    assert "nothing to bring back" in page.inner_text("#steer-said")
    assert page.is_disabled("#undo")
    for _ in range(30):
        dab(page, -0.5)
    assert page.evaluate("alfilter.steering.undos.length") == 24
    page.click("#reset")
    assert np.array_equal(pixels(page), states[0])
    assert page.complaints == []
    page.close()


def test_only_the_tiles_under_the_circle_are_evaluated_again(browser: Any, folder: Path) -> None:
    page = near(browser, folder, small("al-sine"))
    page.evaluate("alfilter.show(100)")  # the cut-off over it is drawn again, too
    before = pixels(page)
    assert 1 <= dab(page, -5.0, radius=5.0) <= 9 < page.evaluate("alfilter.shown.length")
    after = pixels(page)
    changed = np.abs(after - before).max(-1) > 0
    assert changed.any()
    assert away(page, before)[changed].max() < 5.0
    page.close()


def test_the_overview_is_painted_too(browser: Any, folder: Path) -> None:
    page = opened(browser, folder, lively(), "script")
    page.evaluate("alfilter.setView({ zoom: 0.5 })")
    wait_until(page, "alfilter.still")
    before = pixels(page)
    dab(page, -4.0)
    after = pixels(page)
    assert np.abs(after - before).max() > 4
    page.evaluate("alfilter.steering.undo()")
    assert np.array_equal(pixels(page), before)
    page.close()


def test_the_keys_paint_in_the_middle(browser: Any, folder: Path) -> None:
    page = near(browser, folder, small("al-grid"))
    before = pixels(page)
    page.locator("#stage").focus()
    page.keyboard.press(" ")
    assert page.evaluate("alfilter.steering.undos.length") == 0  # without a brush
    page.keyboard.press("p")
    assert page.is_checked("#brush")
    assert page.is_visible("#size")
    for _ in range(3):
        page.keyboard.press(" ")
    assert page.evaluate("alfilter.steering.undos.length") == 3
    alpha = "alfilter.at(11.5, 17.5).alpha"
    lowered = page.evaluate(alpha)
    page.keyboard.down("b")
    learned = page.evaluate(alpha)
    page.keyboard.up("b")
    assert page.evaluate(alpha) == lowered < learned
    for _ in range(3):
        page.keyboard.press("u")
    assert page.evaluate(alpha) == learned
    page.keyboard.press("p")
    assert not page.is_checked("#brush")
    assert np.array_equal(pixels(page), before)
    assert "p takes the brush" in page.inner_text("#keys")
    page.close()


def test_one_finger_paints_and_two_zoom(browser: Any, folder: Path) -> None:
    page = near(browser, folder, small("al-grid"), has_touch=True)
    page.check("#brush")
    fingers = page.context.new_cdp_session(page)
    x, y = spot(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        at = [{"x": px, "y": py, "id": k} for k, (px, py) in enumerate(points)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    touch("touchStart", (x, y))
    touch("touchMove", (x + 60, y))
    touch("touchEnd")
    assert page.evaluate("[alfilter.view.zoom, alfilter.steering.undos.length]") == [ZOOM, 1]
    touch("touchStart", (x, y))
    touch("touchStart", (x, y), (x + 50, y))  # the first dab of what became a pinch is taken back
    assert page.evaluate("alfilter.steering.undos.length") == 1
    touch("touchEnd")
    painted_once = page.evaluate("[...alfilter.steering.offset.values]")
    touch("touchStart", (x, y))
    touch("touchMove", (x - 60, y))
    page.wait_for_timeout(300)  # so are all of a finger that moved and was held
    assert page.evaluate("[...alfilter.steering.offset.values]") != painted_once
    touch("touchStart", (x - 60, y), (x + 50, y))
    assert page.evaluate("[...alfilter.steering.offset.values]") == painted_once
    assert page.evaluate("alfilter.steering.undos.length") == 1
    touch("touchEnd")
    touch("touchStart", (x, y))
    touch("touchStart", (x, y), (x + 50, y))
    touch("touchMove", (x, y), (x + 100, y))
    touch("touchEnd")
    assert page.evaluate("alfilter.view.zoom") == pytest.approx(2 * ZOOM, rel=0.05)
    assert page.evaluate("alfilter.steering.undos.length") == 1
    assert not page.evaluate("alfilter.steering.gesture.active")
    page.close()


def test_with_shift_the_picture_is_moved(browser: Any, folder: Path) -> None:
    page = near(browser, folder, small("al-grid"))
    page.check("#brush")
    x, y = spot(page)
    page.mouse.move(x, y)
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(x + 48, y)
    page.mouse.up()
    assert page.evaluate("alfilter.view.column") == pytest.approx(17.5 - 4, abs=0.1)
    assert page.evaluate("alfilter.steering.undos.length") == 0
    page.close()


def test_a_map_is_painted_where_the_pointer_is(browser: Any, folder: Path) -> None:
    field = small("al-sine", 1)
    field.spec = {**field.spec, "method": "map"}
    field.signal = {"kind": "points", "coords": ["lon", "lat"], "values": ["temp"], "low": [0.0, 0.0],
                    "high": [2.0, 1.0], "value_low": [0.0], "value_high": [1.0]}  # fmt: skip
    page = opened(browser, folder, field, "script", (320, 240))
    rows, columns = page.evaluate("alfilter.field.shape")
    assert (rows, columns) == (256, 512)
    row, column, other = 40.0, 300.0, rows - 1 - 40.0
    before = [page.evaluate(f"alfilter.at({r}, {column}).alpha") for r in (row, other)]
    dab(page, -2.0, row, column, 50.0)
    after = [page.evaluate(f"alfilter.at({r}, {column}).alpha") for r in (row, other)]
    assert after == [pytest.approx(before[0] - 2, abs=1e-5), before[1]]
    assert "% of the longer side" in page.text_content("#size-out")
    page.close()


@pytest.mark.parametrize("bits", [16, 8])
def test_a_rounded_table_is_painted_too(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    field, x = small("al-grid"), places()
    large = program_of(field).numbers.nbytes - 1 if bits == 16 else 1
    monkeypatch.setattr("alfilter.export.page.packed", lambda program: packed(program, large))
    page = opened(browser, tmp_path, field, "script", (320, 240))
    assert f"rounded to {bits} bits" in page.content()
    learned = evaluated(page, x)
    dab(page, -2.0)
    with torch.inference_mode():
        expected = painted(field, [-2.0])(x).numpy()
    assert np.abs(evaluated(page, x) - expected).max() < (1e-3 if bits == 16 else 2e-2)
    dab(page, 3.0)
    assert np.array_equal(evaluated(page, x), learned)
    page.close()


def test_without_a_filter_or_on_planes_there_is_no_brush(browser: Any, folder: Path) -> None:
    volume = cube("al-sine")
    volume.spec = {**volume.spec, "method": "volume"}
    for field in (small("siren"), volume):
        page = opened(browser, folder, field, "script")
        page.locator("#stage").focus()
        for key in ("p", " ", "b", "u"):
            page.keyboard.press(key)
        assert page.is_hidden("#s-steer")
        assert page.is_hidden("#steer-key")
        assert not page.evaluate("Boolean(alfilter.steering)")
        assert page.complaints == []
        page.close()
