"""A page about pictures: tiles, the place under the cursor, snapshots, steering and saving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.viewer.conftest import HEIGHT, WIDTH, Client

from alfilter.analysis import capped, filtered_encoding_of, frequency_map, response_maps
from alfilter.core.filter import band_response
from alfilter.evaluate import sample_grid
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.signals import read_image
from alfilter.training import load


def tile(client: Client, words: str) -> np.ndarray:
    answer = client.ask(f"/api/tile?{words}")
    assert answer.status == 200, answer.body
    size, kind = answer.headers["X-Tile"].split()
    columns, rows, channels = map(int, size.split("x"))
    return np.frombuffer(answer.body, {"u2": "<u2", "f4": "<f4"}[kind]).reshape(rows, columns, channels)


def test_a_tile_is_the_field(client: Client, runs: Path) -> None:
    field = load(runs / "al" / "model.safetensors")
    expected = render(field, View()).clamp(0, 1).numpy()
    for _ in range(2):  # evaluated, then from the cache
        drawn = tile(client, "m=0&z=0&x=0&y=0") / 65535
        assert np.abs(drawn - expected).max() < 1 / 65535
    assert client.ask("/api/stats").json()["evaluated"] == 1
    reference = read_image(runs / "al" / "reference.png")
    assert np.array_equal(tile(client, "layer=nearest&z=0&x=0&y=0"), reference.data.astype(np.uint16) * 257)
    assert np.array_equal(tile(client, "layer=bicubic&z=0&x=0&y=0"), reference.data.astype(np.uint16) * 257)


def test_alpha_and_its_scales_are_the_librarys(client: Client, runs: Path) -> None:
    encoding = filtered_encoding_of(load(runs / "al" / "model.safetensors"))
    assert encoding is not None
    cut_off = frequency_map(encoding, (HEIGHT, WIDTH)).detach().numpy() / (WIDTH - 1)
    assert np.allclose(tile(client, "m=0&layer=alpha&z=0&x=0&y=0")[..., 0], cut_off, rtol=1e-6)
    maps = response_maps(encoding, (HEIGHT, WIDTH)).detach().numpy()
    for j in range(4):
        assert np.array_equal(tile(client, f"m=0&layer=scale{j}&z=0&x=0&y=0")[..., 0], maps[j])


def test_the_place_under_the_cursor(client: Client, runs: Path) -> None:
    field = load(runs / "al" / "model.safetensors")
    result = client.ask("/api/at?m=0&x=20.4&y=11").json()
    x = torch.tensor([[2 * 11 / (HEIGHT - 1) - 1, 2 * 20.4 / (WIDTH - 1) - 1]])
    encoding = filtered_encoding_of(field)
    assert encoding is not None
    with torch.inference_mode():
        assert result["value"] == pytest.approx(field(x)[0].tolist(), abs=1e-5)
        alpha = encoding.alpha(x)
        assert result["alpha"] == pytest.approx(float(alpha[0]), abs=1e-5)
        assert result["frequency"] == pytest.approx(float(encoding.local_frequency(x)[0]) / (WIDTH - 1))
        assert result["response"] == pytest.approx(band_response(alpha, 16, 6.0, 10.0)[0].tolist(), abs=1e-4)
        assert result["scales"] == pytest.approx(encoding.responses(x)[0].tolist(), abs=1e-4)
    truth = read_image(runs / "al" / "reference.png").data[11, 20] / 255
    assert result["sample"] == [20, 11]
    assert result["reference"] == pytest.approx(truth.tolist())
    assert result["error"] == pytest.approx(
        (render(field, View())[11, 20].clamp(0, 1).numpy() - truth).tolist(), abs=1e-5
    )
    other = client.ask("/api/at?m=1&x=20.4&y=11").json()
    assert "alpha" not in other
    for wrong in ("x=nan&y=0", "x=0&y=99", "x=-1&y=0", "x=a&y=0", "x=1e999&y=0"):
        assert client.ask(f"/api/at?m=0&{wrong}").status == 400


def test_about_says_what_there_is(client: Client) -> None:
    about = client.ask("/api/about").json()
    first, second = about["models"]
    assert (first["name"], first["method"], first["shape"]) == ("al", "al-sine", [HEIGHT, WIDTH])
    assert first["alpha"]["channels"] == 16
    assert first["alpha"]["cycles"][3] == pytest.approx(8 / (WIDTH - 1))
    assert second["alpha"] is None
    assert first["snapshots"] == [0, 60]
    assert about["reference"] == "reference.png"
    assert about["save"] is True
    history = client.ask("/api/history?m=0").json()
    assert history["points"][-1][0] == 60


def test_snapshots_are_drawn(client: Client, runs: Path) -> None:
    start = load(runs / "al" / "snapshots" / "0.safetensors")
    drawn = tile(client, "m=0&t=0&z=0&x=0&y=0") / 65535
    assert np.abs(drawn - render(start, View()).clamp(0, 1).numpy()).max() < 1 / 65535
    assert np.array_equal(tile(client, "m=0&t=60&z=0&x=0&y=0"), tile(client, "m=0&z=0&x=0&y=0"))


def test_a_cap_is_the_librarys(client: Client, runs: Path) -> None:
    field = load(runs / "al" / "model.safetensors")
    whole = tile(client, "m=0&z=0&x=0&y=0")
    for cap in (0.03, 0.05):
        expected = sample_grid(capped(field, cap * (WIDTH - 1)), (HEIGHT, WIDTH)).clamp(0, 1).numpy()
        drawn = tile(client, f"m=0&c={cap}&z=0&x=0&y=0")
        assert np.abs(drawn / 65535 - expected).max() < 1 / 65535
        assert not np.array_equal(drawn, whole)
    assert np.array_equal(tile(client, "m=0&c=99&z=0&x=0&y=0"), whole), "above everything it changes nothing"
    for wrong in ("m=0&c=0", "m=0&c=-1", "m=0&c=x", "m=0&c=1e9", "m=1&c=0.1"):
        assert client.ask(f"/api/tile?{wrong}&z=0&x=0&y=0").status == 400


def test_steering_and_saving(client: Client, runs: Path) -> None:
    words = "m=0&z=0&x=0&y=0"
    before = tile(client, words)
    answer = client.post("/api/steer", {"m": 0, "gesture": "g", "dabs": [[30, 20]], "radius": 6, "amount": -3}).json()
    assert answer["undo"] == 1
    assert answer["box"] == [14, 24, 26, 36]
    after = tile(client, words)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    inside = (rows - 20) ** 2 + (columns - 30) ** 2 < 36
    apart = np.abs(after.astype(int) - before).max(-1)
    assert apart[~inside].max() == 0
    assert apart[inside].max() > 600
    assert np.array_equal(tile(client, f"{words}&v=0"), before)
    saved = client.post("/api/save", {"m": 0, "name": "mine"}).json()["file"]
    assert Path(saved) == runs / "al" / "mine.safetensors"
    assert np.abs(render(load(saved), View()).clamp(0, 1).numpy() - after / 65535).max() < 5 / 65535
    assert "is there already" in client.post("/api/save", {"m": 0, "name": "mine"}).json()["error"]
    assert client.post("/api/undo", {"m": 0}).json()["steered"] is False
    assert np.array_equal(tile(client, words), before)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a b", "x" * 65, "/etc/x", "a\\b", "model\n"])
def test_a_saved_name_is_only_a_name(client: Client, runs: Path, name: str) -> None:
    held = sorted(runs.rglob("*"))
    assert "name is made of" in client.post("/api/save", {"m": 0, "name": name}).json()["error"]
    assert sorted(runs.rglob("*")) == held


STROKES: list[dict[str, object]] = [
    *({"dabs": dabs} for dabs in ([], [[1, 2, 3]], [["a", 1]], [[1e99, 0]], [[0, 0]] * 300, {}, [[None, 0]])),
    *({"dabs": [[0, 0]], "radius": radius} for radius in (1, "x", 1e9)),
    {"dabs": [[0, 0]], "m": True},
    {"dabs": [[0, 0]], "m": 1},
]


@pytest.mark.parametrize("body", STROKES)
def test_odd_strokes_are_refused(client: Client, body: dict[str, object]) -> None:
    answer = client.post("/api/steer", {"m": 0, "radius": 9, "amount": 1, **body})
    assert answer.status == 400, answer.body
