"""The page of volumes, videos and light fields: planes beside the signal's own, moved and played in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.chromium import wait_until
from tests.viewer.conftest import Client
from tests.viewer.test_picture import tile

from alfilter.errors import UserError
from alfilter.evaluate import sample_axes
from alfilter.methods import build
from alfilter.tasks import LightFieldTask, VideoTask, VolumeTask
from alfilter.tasks.grid import GridTask
from alfilter.training import fit, load, save
from alfilter.viewer.open import open_viewer
from alfilter.viewer.server import Server

SHAPE = (7, 10, 12)
VIEWS = (3, 4, 7, 9)


def make(folder: Path, task: GridTask, method: str = "al-grid") -> Path:
    folder.mkdir()
    field = build(method, in_dim=task.in_dim, out_dim=task.signal.out_dim, samples=task.samples, width=16)
    field.signal = task.describe()
    fit(field, task, steps=20, lr=1e-2)
    save(field, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("planes")
    places = np.meshgrid(*(np.linspace(0, 1, n) for n in SHAPE), indexing="ij")
    values = (0.5 + 0.5 * np.sin(3 * places[0] + 5 * places[1] - 4 * places[2])).astype(np.float32)
    np.save(home / "cube.npy", values)
    make(home / "cube", VolumeTask.from_file(home / "cube.npy"))
    frames = (255 * np.stack([values, values**2, 1 - values], -1)).astype(np.uint8)
    make(home / "clip", VideoTask.from_array(frames, rate=10.0))
    u, v, row, column = np.meshgrid(*(np.linspace(0, 1, n) for n in VIEWS), indexing="ij")
    light = 0.5 + 0.5 * np.sin(2 * u - 3 * v + 5 * row + 4 * column)
    views = (255 * np.stack([light, light**2, 1 - light], -1)).astype(np.uint8)
    np.save(home / "views.npy", views)
    make(home / "views", LightFieldTask.from_array(views))
    return home


@contextmanager
def served(*paths: Path, reference: Path | None = None) -> Iterator[Server]:
    viewer = open_viewer([str(path) for path in paths], reference and str(reference))
    with Server(viewer) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def test_a_tile_is_a_plane_of_the_field(home: Path) -> None:
    field, cube = load(home / "cube" / "model.safetensors"), np.load(home / "cube.npy")
    with served(home / "cube", reference=home / "cube.npy") as server:
        client = Client(server)
        about = client.ask("/api/about").json()
        assert about["layout"]["noun"] == "volume"
        assert about["models"][0]["shape"] == list(SHAPE)
        assert about["models"][0]["steerable"] is False
        for plane, held, at in ((0, 0, 2.5), (1, 1, 3.0), (2, 2, 11.0)):
            axes = [torch.linspace(-1, 1, n) for n in SHAPE]
            axes[held] = torch.tensor([2 * at / (SHAPE[held] - 1) - 1])
            expected = sample_axes(field, axes).squeeze(held).clamp(0, 1).numpy()
            drawn = tile(client, f"m=0&z=0&x=0&y=0&plane={plane}&at={at}") / 65535
            assert np.abs(drawn - expected).max() < 2 / 65535
            truth = np.take(cube, round(at + 1e-9), axis=held)
            stored = tile(client, f"layer=nearest&z=0&x=0&y=0&plane={plane}&at={round(at + 1e-9)}")[..., 0]
            assert np.abs(stored / 65535 - truth).max() < 1 / 65535
        middle = tile(client, "m=0&z=0&x=0&y=0")
        assert np.array_equal(middle, tile(client, "m=0&z=0&x=0&y=0&plane=0&at=3"))
        on, between = (client.ask(f"/api/at?m=0&x=2&y=4&plane=0&at={at}").json() for at in ("3", "3.25"))
        assert on["reference"] == pytest.approx([cube[3, 4, 2]], abs=1e-6)
        assert "reference" not in between
        for wrong in ("plane=3&at=1", "plane=0&at=9", "plane=0&at=1,2", "plane=0&at=x", "at=nan"):
            assert client.ask(f"/api/tile?m=0&z=0&x=0&y=0&{wrong}").status == 400
        stroke = {"m": 0, "gesture": "g", "dabs": [[3, 3]], "radius": 5, "amount": -1}
        assert "a brush steers pictures" in client.post("/api/steer", stroke).json()["error"]


def test_a_tile_is_a_plane_of_a_light_field(home: Path) -> None:
    field, views = load(home / "views" / "model.safetensors"), np.load(home / "views.npy")
    with served(home / "views", reference=home / "views.npy") as server:
        client = Client(server)
        about = client.ask("/api/about").json()
        assert about["layout"]["noun"] == "light field"
        assert about["models"][0]["shape"] == list(VIEWS)
        planes = [tuple(plane) for plane in about["layout"]["planes"]]
        assert planes == [(2, 3), (1, 3), (0, 2)]
        for number, plane in enumerate(planes):
            held = [axis for axis in range(4) if axis not in plane]
            places = [0.25 + 0.5 * axis for axis in held]
            axes = [torch.linspace(-1, 1, n) for n in VIEWS]
            for axis, place in zip(held, places, strict=True):
                axes[axis] = torch.tensor([2 * place / (VIEWS[axis] - 1) - 1])
            expected = sample_axes(field, axes).squeeze(tuple(held)).clamp(0, 1).numpy()
            at = ",".join(map(str, places))
            drawn = tile(client, f"m=0&z=0&x=0&y=0&plane={number}&at={at}") / 65535
            assert np.abs(drawn - expected).max() < 2 / 65535
        for layer in ("nearest", "bicubic"):
            truth = tile(client, f"layer={layer}&z=0&x=0&y=0&plane=1&at=2,6")
            assert np.array_equal(truth, views[2, :, 6].astype(np.uint16) * 257)
        on, between = (client.ask(f"/api/at?m=0&x=8&y=5&plane=0&at={at}").json() for at in ("1,3", "1,2.5"))
        assert on["reference"] == pytest.approx(views[1, 3, 5, 8] / 255, abs=1e-6)
        assert "reference" not in between
        for wrong in ("plane=3&at=1,1", "plane=0&at=1", "plane=0&at=3,0", "plane=0&at=1,1,1"):
            assert client.ask(f"/api/tile?m=0&z=0&x=0&y=0&{wrong}").status == 400


def test_models_of_two_kinds_are_not_shown_together(home: Path) -> None:
    with pytest.raises(UserError, match="represent one kind of signal"):
        open_viewer([str(home / "cube"), str(home / "clip")])
    with pytest.raises(UserError, match="must be the fitted video, 12x10x7 with 3 channels"):
        open_viewer([str(home / "clip")], str(home / "cube.npy"))


def opened(browser: Any, server: Server) -> Any:
    context = browser.new_context(viewport={"width": 900, "height": 700}, locale="en-US", reduced_motion="reduce")
    context.add_init_script("localStorage.setItem('alfilter-tour', 'seen')")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.problems = problems
    page.goto(server.address)
    wait_until(page, "window.view !== undefined")
    page.evaluate("() => view.settled()")
    return page


def test_planes_are_moved_and_turned(home: Path, browser: Any) -> None:
    with served(home / "cube", reference=home / "cube.npy") as server:
        page = opened(browser, server)
        assert page.inner_text("#h-plane") == "Plane of the volume"
        assert "12 × 10 × 7 voxels" in page.inner_text("#facts")
        assert page.locator("#s-steer").is_hidden()
        assert "dB against the volume" in page.inner_text("#screen")
        page.fill("#held-0", "4.25")
        page.evaluate("() => view.settled()")
        assert page.inner_text("#held-out-0") == "4.25 of 0 to 6, between"
        assert page.inner_text("#screen") == "", "between samples nothing is measured"
        page.get_by_label("axis 0 × axis 1").check(force=True)
        page.evaluate("() => view.settled()")
        assert page.evaluate("view.camera.rows + ' ' + view.camera.columns") == "7 10"
        assert page.locator("#held-2").count() == 1
        page.focus("#stage")
        page.keyboard.press("]")
        assert page.evaluate("view.sections.places[2]") == 6
        page.evaluate("() => view.settled()")
        assert "axis 2 6" in page.get_attribute("#stage", "aria-label")
        assert page.problems == []


def test_a_light_field_has_a_slider_for_each_direction(home: Path, browser: Any) -> None:
    with served(home / "views", reference=home / "views.npy") as server:
        page = opened(browser, server)
        assert page.inner_text("#h-plane") == "Plane of the light field"
        assert "9 × 7 × 4 × 3 pixels" in page.inner_text("#facts")
        assert page.locator("#s-steer").is_hidden()
        assert page.locator("#play-time").count() == 0
        assert "dB against the light field" in page.inner_text("#screen")
        page.fill("#held-0", "1.25")
        page.fill("#held-1", "3")
        page.evaluate("() => view.settled()")
        assert page.inner_text("#held-out-0") == "1.25 of 0 to 2, between"
        assert page.inner_text("#held-out-1") == "3 of 0 to 3"
        assert page.inner_text("#screen") == "", "between views nothing is measured"
        assert "u 1.25, v 3" in page.get_attribute("#stage", "aria-label")
        page.get_by_label("v × column").check(force=True)
        page.evaluate("() => view.settled()")
        assert page.evaluate("view.camera.rows + ' ' + view.camera.columns") == "4 9"
        assert page.locator("#held-2").count() == 1
        assert page.evaluate("view.tiles.complete(view.words('m0'), view.camera)"), "drawn at the screen's resolution"
        assert page.problems == []


def test_a_video_plays_to_its_end(home: Path, browser: Any) -> None:
    with served(home / "clip") as server:
        page = opened(browser, server)
        page.evaluate("() => view.sections.hold(0, 4)")
        page.click("#play-time")
        wait_until(page, "view.sections.playing === null && view.sections.places[0] === 6")
        page.evaluate("() => view.settled()")
        assert page.inner_text("#held-out-0") == "6 of 0 to 6, 0.60 s"
        assert page.inner_text("#play-time") == "▶"
        assert page.evaluate("view.tiles.complete(view.words('m0'), view.camera)"), "drawn at the screen's resolution"
        assert page.problems == []
