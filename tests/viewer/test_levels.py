"""Levels of detail on the page, and the overview: what a screen pixel shows when it covers several samples."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.commands import picture
from tests.viewer.conftest import HEIGHT, WIDTH, Client, make_server
from tests.viewer.test_page import Page

from alfilter.errors import UserError
from alfilter.methods import Field, build
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.signals import read_image
from alfilter.signals.points import read_points
from alfilter.tasks import ImageTask
from alfilter.tasks.points import PointTask
from alfilter.training import load, save
from alfilter.viewer.open import grid_models, open_files
from alfilter.viewer.server import Server


@pytest.fixture
def folder(tmp_path: Path, trained: Path) -> Path:
    """A run of BACON beside one of SIREN, and the first one's field."""
    run = tmp_path / "bacon"
    run.mkdir()
    task = ImageTask.from_file(picture(run / "reference.png", HEIGHT, WIDTH))
    field = build("bacon", in_dim=2, out_dim=3, samples=task.samples, width=16, seed=1)
    field.signal = task.describe()
    field.set_range(torch.zeros(3), torch.ones(3))
    save(field, run / "model.safetensors")
    return run


def serve(*folders: Path) -> Iterator[Server]:
    with make_server(*folders) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def levelled(folder: Path, trained: Path) -> Iterator[Server]:
    yield from serve(folder, trained / "siren")


def tile(client: Client, words: str) -> np.ndarray:
    answer = client.ask(f"/api/tile?{words}")
    assert answer.status == 200, answer.body
    width, height, channels = (int(n) for n in answer.headers["X-Tile"].split()[0].split("x"))
    kind = "<u2" if answer.headers["X-Tile"].endswith("u2") else "<f4"
    return np.frombuffer(answer.body, kind).reshape(height, width, channels).astype(np.float64)


def test_every_level_is_renders(levelled: Server, folder: Path) -> None:
    client, field = Client(levelled), load(folder / "model.safetensors")
    about = client.ask("/api/about").json()["models"]
    assert len(about[0]["levels"]) == 4
    assert about[1]["levels"] == []
    for level in (1, 2, 3, 4):
        expected = render(field, View(level=level)).clamp(0, 1).numpy()
        assert np.abs(tile(client, f"m=0&z=0&x=0&y=0&l={level}") / 65535 - expected).max() < 1e-4
        spot = client.ask(f"/api/at?m=0&x=7&y=5&l={level}").json()
        assert spot["value"] == pytest.approx(render(field, View(level=level))[5, 7].tolist(), abs=1e-4)
    assert np.array_equal(tile(client, "m=0&z=0&x=0&y=0&l=4"), tile(client, "m=0&z=0&x=0&y=0"))
    tile(client, "m=0&z=110&x=0&y=0&l=1")  # so deep that it is evaluated in float64
    for words in ("m=0&l=5", "m=0&l=0", "m=1&l=2", "m=0&l=x"):
        answer = client.ask(f"/api/tile?z=0&x=0&y=0&{words}")
        assert answer.status == 400, words
    assert "bacon has 4 levels of detail, got number 5" in client.ask("/api/tile?m=0&z=0&x=0&y=0&l=5").json()["error"]


def opened(browser: Any, server: Server, **context: Any) -> Page:
    window = browser.new_context(viewport={"width": 1020, "height": 700}, reduced_motion="reduce", **context)
    window.add_init_script("localStorage.setItem('alfilter-tour', 'seen')")
    return Page(window.new_page(), server.address)


def test_the_page_chooses_a_level(browser: Any, levelled: Server, folder: Path, trained: Path) -> None:
    page, field = opened(browser, levelled), load(folder / "model.safetensors")
    page.run("view.lookAt(25, 20, 0)")
    page.settle()
    finest = page.shown()[0].astype(float)
    assert page.page.is_visible("#detail")
    assert page.page.get_by_label("Level of detail").count() == 1
    for level in (1, 3):
        page.page.locator("#detail").fill(str(level))
        page.settle()
        assert f"{level} of 4: up to" in page.page.inner_text("#detail-out")
        drawn = page.shown()[0].astype(float)
        assert np.abs(drawn - 255 * render(field, View(level=level)).clamp(0, 1).numpy()).max() <= 2
    assert page.page.inner_text(".pane .name") == f"bacon, level {level} of 4"
    page.page.locator("#detail").fill("4")
    page.settle()
    assert np.array_equal(page.shown()[0], finest)
    page.page.select_option("#first", "m0:l1")  # a level as a source of its own, to lay beside another
    page.page.check("input[name=mode][value=diff]", force=True)
    page.page.select_option("#second", "m0")
    page.settle()
    assert "dB against bacon" in page.page.inner_text("#screen")
    assert page.complaints == []
    page.page.context.close()
    for server in serve(trained / "siren"):
        plain = opened(browser, server)
        assert plain.page.is_hidden("#detail")
        plain.page.context.close()


# ---- the overview


def blocks(values: Any, each: int) -> np.ndarray:
    """The mean of blocks of each × each pixels."""
    rows, columns, channels = values.shape
    whole = np.asarray(values, np.float64).reshape(rows // each, each, columns // each, each, channels)
    return np.asarray(whole.mean((1, 3)))


def means(field: Field, each: int) -> np.ndarray:
    return blocks(render(field, View()).clamp(0, 1), each)


def test_an_overview_pixel_is_the_mean_of_its_samples(client: Client, runs: Path) -> None:
    field = load(runs / "al" / "model.safetensors")
    for zoom, each in ((-8, 2), (-16, 4)):  # at these the places are the samples themselves
        where = f"z={zoom}&x=0&y=0"
        assert np.abs(tile(client, f"m=0&{where}") / 65535 - means(field, each)).max() < 2e-5
        stored = tile(client, "layer=nearest&z=0&x=0&y=0") / 65535
        expected = blocks(stored, each)
        for layer in ("nearest", "bicubic"):
            assert np.abs(tile(client, f"layer={layer}&{where}") / 65535 - expected).max() < 2e-5
        alpha = tile(client, "m=0&layer=alpha&z=0&x=0&y=0")
        assert np.abs(tile(client, f"m=0&layer=alpha&{where}") - blocks(alpha, each)).max() < 1e-4


def test_a_first_impression_is_one_place_a_pixel(client: Client) -> None:
    rough, fine = (tile(client, f"layer=nearest&z=-24&x=0&y=0{words}") for words in ("&rough=1", ""))
    stored = tile(client, "layer=nearest&z=0&x=0&y=0")
    assert rough.shape == fine.shape == (5, 7, 3)
    assert np.array_equal(rough[:5, :6], stored[4::8, 4::8][:5, :6])  # place 8 p + 3.5 rounds up to sample 8 p + 4
    assert rough.std() > fine.std()  # what aliases is livelier
    assert np.array_equal(tile(client, "m=0&z=0&x=0&y=0&rough=1"), tile(client, "m=0&z=0&x=0&y=0"))


def test_the_page_shows_the_mean_and_measures_it(browser: Any, tmp_path: Path) -> None:
    task = ImageTask.from_file(picture(tmp_path / "reference.png", 512, 640))
    field = build("siren", in_dim=2, out_dim=3, samples=task.samples, width=8, depth=2, omega=300.0)
    field.signal = task.describe()
    save(field, tmp_path / "model.safetensors")
    expected, stored = means(field, 4), blocks(read_image(tmp_path / "reference.png").data / 255.0, 4)
    for server in serve(tmp_path):
        page = opened(browser, server)
        page.page.check("input[name=mode][value=diff]", force=True)
        page.page.select_option("#second", "nearest")
        page.run("view.lookAt(320, 256, 0)")
        page.settle()  # the coarse tiles of this zoom were first impressions: the next one must not keep them
        page.run("view.lookAt(319.5, 255.5, -16)")
        page.settle()
        assert page.run("view.camera.zoom") == -16
        value = -10 * np.log10(np.square(expected - stored).mean())
        assert f"{value:.2f} dB against the stored pixels" in page.page.inner_text("#screen")
        page.page.check("input[name=mode][value=one]", force=True)
        page.settle()
        left, top = page.run("view.camera.origin()")
        drawn = page.pixels()[top : top + 128, left : left + 160, :3]
        assert np.abs(drawn - 255 * expected).max() <= 2
        assert page.complaints == []
        page.page.context.close()


def test_scattered_points_are_sent_to_their_page(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("x,y,z\n0,0,1\n1,0,2\n0,1,3\n1,1,5\n")
    field = build("siren", in_dim=2, out_dim=1, width=4)
    field.signal = PointTask(read_points(file, ["x", "y"], ["z"])).describe()
    save(field, tmp_path / "model.safetensors")
    with pytest.raises(
        UserError, match=r"represents points, which has no page of planes; 'alfilter export .*model.safetensors map"
    ):
        grid_models(open_files([str(tmp_path)]))


def test_the_history_starts_at_its_end(browser: Any, runs: Path) -> None:
    for step in (10, 20):
        shutil.copy(runs / "al" / "snapshots" / "0.safetensors", runs / "al" / "snapshots" / f"{step}.safetensors")
    for server in serve(runs / "al"):
        page = opened(browser, server)
        page.page.locator("#moment-said", has_text="the end").wait_for()
        assert (page.page.input_value("#moment"), page.page.get_attribute("#moment", "max")) == ("3", "3")
        page.page.check("input[name=mode][value=side]", force=True)
        page.settle()
        message = "In the panes: dB of what is on the screen, against the picture, bicubic."
        page.page.locator("#screen", has_text=message).wait_for()
        page.page.context.close()
