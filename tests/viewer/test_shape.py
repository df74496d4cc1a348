"""The page of a shape: the bytes it is made of, what the server answers, and the page in a browser."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.chromium import chromium, wait_until
from tests.viewer.conftest import Client
from tests.viewer.test_page import NAMELESS

from alfilter.analysis import local_frequency
from alfilter.core import band_response
from alfilter.errors import UserError
from alfilter.evaluate import distances_at
from alfilter.geometry.surface import extract
from alfilter.methods import Field, build
from alfilter.training import save
from alfilter.viewer.open import open_viewer
from alfilter.viewer.server import Server
from alfilter.viewer.shape import LEVELS, cut_offs, mesh_bytes, slice_bytes, slice_points

RADIUS, SCALE = 0.6, 10.0


def ball() -> Field:
    """A small al-sine field that has learned the distance to a ball, with an α that differs from place to place."""
    field = build("al-sine", in_dim=3, out_dim=1, levels=3, bandwidth=8.0, grid=3, coordinates=True, unit="axis",
                  start=0.0, omega=6.0, width=24, depth=2, seed=1)  # fmt: skip
    alpha: Any = field.encoding.alpha
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        alpha.values.copy_(torch.rand(alpha.values.shape, generator=generator) * 0.3)
    optimiser = torch.optim.Adam(field.network.parameters(), 5e-3)
    for _ in range(300):
        x = torch.rand(1024, 3, generator=generator) * 2 - 1
        loss = (field(x).squeeze(-1) - (x.norm(dim=-1) - RADIUS)).square().mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    field.signal = {"kind": "shape", "frame": {"offset": [1.0, 2.0, 3.0], "scale": SCALE}}
    return field.eval()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shape") / "ball"
    path.mkdir()
    save(ball(), path / "model.safetensors")
    return path


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[Server]:
    with Server(open_viewer([str(model)])) as running:
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


def test_a_slice_has_rows_and_columns_along_the_other_axes() -> None:
    points = slice_points(1, 0.25, 3)
    assert points.shape == (9, 3)
    assert points[1].tolist() == [-1.0, 0.25, 0.0]  # the second column of the first row
    assert points[3].tolist() == [0.0, 0.25, -1.0]


def test_the_bytes_of_a_surface_come_back() -> None:
    surface = extract(lambda p: np.linalg.norm(p, axis=1).astype(np.float32) - 0.5, 16)
    cycles = np.arange(len(surface.vertices), dtype=np.float32)
    data = mesh_bytes(surface, cycles)
    version, vertices, faces, follows = struct.unpack("<4I", data[:16])
    assert (version, vertices, faces, follows) == (1, len(surface.vertices), len(surface.faces), 1)
    places = np.frombuffer(data, "<f4", 3 * vertices, 16).reshape(-1, 3)
    assert np.allclose(places, surface.vertices, atol=1e-6)
    normals = np.frombuffer(data, "i1", 4 * vertices, 16 + 12 * vertices).reshape(-1, 4)[:, :3] / 127
    assert np.abs(normals - surface.normals).max() < 0.01
    assert np.array_equal(np.frombuffer(data, "<f4", vertices, 16 + 16 * vertices), cycles)
    assert np.array_equal(np.frombuffer(data, "<u4", offset=16 + 20 * vertices).reshape(-1, 3), surface.faces)


def test_the_server_answers_about_the_shape(server: Server, model: Path) -> None:
    client, field = Client(server), ball()
    about = client.ask("/api/about").json()
    assert (about["kind"], about["name"], about["levels"]) == ("shape", "ball", list(LEVELS))
    assert about["alpha"]["channels"] == 18
    data = client.ask("/api/mesh?resolution=48").body
    count = struct.unpack("<4I", data[:16])[1]
    places = np.frombuffer(data, "<f4", 3 * count, 16).reshape(-1, 3)
    assert abs(np.linalg.norm(places, axis=1).mean() - RADIUS) < 0.05
    shown = np.frombuffer(data, "<f4", count, 16 + 16 * count)
    assert np.allclose(shown, cut_offs(_encoding(field), places), rtol=1e-4)
    in_cycles = local_frequency(field, torch.tensor(places)).detach().numpy()
    assert np.allclose(shown, in_cycles, rtol=1e-4)  # the report's unit: across the domain
    low, high = about["alpha"]["cut_off"]
    assert low * 0.9 <= np.median(shown) <= high * 1.1
    assert client.ask("/api/slice?axis=2&at=0.5&size=32").body == slice_bytes(field, 2, 0.5, 32)
    result = client.ask("/api/at?x=0.5&y=-0.5&z=0.25").json()
    x = torch.tensor([[0.5, -0.5, 0.25]])
    assert result["user"] == [6.0, -3.0, 5.5]
    assert result["distance"] == pytest.approx(SCALE * float(distances_at(field, x.numpy())[0]), abs=1e-4)
    with torch.inference_mode():
        alpha = _encoding(field).alpha(x)
        assert np.allclose(result["response"], band_response(alpha, 18, 8.0, 10.0)[0].numpy(), atol=1e-4)


def _encoding(field: Field) -> Any:
    return field.encoding


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/mesh?resolution=4000", 400),
        ("/api/slice?axis=3&at=0&size=64", 400),
        ("/api/slice?axis=0&at=2&size=64", 400),
        ("/api/slice?axis=0&at=nan&size=64", 400),
        ("/api/slice?axis=0&at=0&size=100000", 400),
        ("/api/tile?z=0", 404),
        ("/../shape.py", 404),
        ("/shape.html", 404),
    ],
)
def test_everything_else_is_refused(server: Server, path: str, status: int) -> None:
    assert Client(server).ask(path).status == status


def test_nothing_can_be_changed(server: Server) -> None:
    assert Client(server).post("/api/steer", {"m": 0}).status == 404
    assert Client(server).ask("/", Host="evil.example").status == 403


def test_a_shape_is_shown_alone(model: Path, tmp_path: Path) -> None:
    alone = "is a shape and is shown alone; leave the other models and the reference out"
    with pytest.raises(UserError, match=alone):
        open_viewer([str(model), str(model)])
    with pytest.raises(UserError, match=alone):
        open_viewer([str(model)], str(tmp_path / "picture.png"))
    picture = build("siren", in_dim=2, out_dim=1, width=4)
    save(picture, tmp_path / "picture.safetensors")
    with pytest.raises(UserError, match="represents nothing yet, which has no page of planes"):
        open_viewer([str(tmp_path / "picture.safetensors")])


def opened(browser: Any, server: Server, size: tuple[int, int] = (700, 480), **context: Any) -> Any:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **context)
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(server.address)
    wait_until(page, "!!window.view && view.scene.meshes.has(96)", 120)
    wait_until(page, "view.level !== null")
    return page


# the colour of the pixel in the middle, drawn anew: what a canvas drew before is not kept
MIDDLE = """(() => { view.scene.draw(view.view()); const g = view.scene.gl, out = new Uint8Array(4);
  g.readPixels(g.canvas.width / 2, g.canvas.height / 2, 1, 1, g.RGBA, g.UNSIGNED_BYTE, out); return [...out]; })()"""


def test_the_page_shows_the_surface_and_a_slice(browser: Any, server: Server) -> None:
    page, field = opened(browser, server), ball()
    front = page.evaluate(
        "view.scene.pick(view.view(), view.scene.gl.canvas.width / 2, view.scene.gl.canvas.height / 2)"
    )
    assert np.linalg.norm(front) == pytest.approx(RADIUS, abs=0.08)  # the ball, seen from the eye
    assert page.locator("#alpha-unit").text_content() == "cut-off in cycles across the domain"
    ends = [float(page.locator(f"#alpha-{end}").text_content()) for end in ("low", "high")]
    spot = local_frequency(field, torch.tensor([front])).item()
    assert ends[0] * 0.9 < spot < ends[1] * 1.1
    assert abs(float(distances_at(field, np.array([front]))[0])) < 0.02
    on_surface = page.evaluate(MIDDLE)
    page.evaluate("view.setSlice(2, 0)")
    wait_until(page, "view.scene.cutting && !view.cuttingNow")
    cut = page.evaluate("view.scene.pick(view.view(), view.scene.gl.canvas.width / 2, view.scene.gl.canvas.height / 2)")
    assert cut[2] == pytest.approx(0, abs=1e-5)  # the surface before the slice is cut away
    assert page.evaluate(MIDDLE) != on_surface
    page.evaluate("view.cursor = null; view.ask()")
    wait_until(page, "view.spot !== null && Math.abs(view.spot.place[2]) < 1e-4")
    result = page.evaluate("view.spot")
    assert result["distance"] == pytest.approx(
        SCALE * float(distances_at(field, np.array([result["place"]]))[0]), abs=1e-3
    )
    assert "channels" in page.locator("#response").get_attribute("aria-label")
    page.evaluate("view.paint('none')")
    assert page.complaints == []
    page.close()


def test_keys_and_detail(browser: Any, server: Server) -> None:
    page = opened(browser, server)
    page.locator("#stage").focus()
    before = page.evaluate("({ ...view.eye })")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    after = page.evaluate("({ ...view.eye })")
    assert after["turn"] != before["turn"]
    assert after["far"] < before["far"]
    page.keyboard.press("x")
    wait_until(page, "view.scene.cutting && view.scene.cutting.axis === 0")
    page.keyboard.press("]")
    wait_until(page, "Math.abs(view.scene.cutting.at - 0.05) < 1e-6")
    page.evaluate("view.eye.far = 0.6; 0")
    assert page.evaluate("view.ideal()") > page.evaluate("view.eye.far = 12, view.ideal()")  # closer is finer
    page.locator("#detail").select_option("48")
    wait_until(page, "view.level === 48")
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_shows_all_of_it(browser: Any, server: Server, scheme: str) -> None:
    page = opened(browser, server, (375, 720), color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    nameless = page.evaluate(NAMELESS)
    assert nameless == []
    page.close()
