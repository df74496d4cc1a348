"""The server: its own assets and the given models, and nothing else."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import torch
from tests.support.commands import complaint
from tests.viewer.conftest import HEIGHT, WIDTH, Client

from alfilter.analysis import alpha_map, filtered_encoding_of, response_maps
from alfilter.core.filter import band_response
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.runtime.bounded_executor import BoundedExecutor
from alfilter.signals import read_image
from alfilter.training import load
from alfilter.viewer import access
from alfilter.viewer.server import ASSETS, Server


def tile(client: Client, words: str) -> np.ndarray:
    answer = client.ask(f"/api/tile?{words}")
    assert answer.status == 200, answer.body
    size, kind = answer.headers["X-Tile"].split()
    columns, rows, channels = map(int, size.split("x"))
    return np.frombuffer(answer.body, {"u2": "<u2", "f4": "<f4"}[kind]).reshape(rows, columns, channels)


def test_every_asset_is_there_and_guarded(client: Client) -> None:
    for path in ASSETS:
        answer = client.ask(path)
        assert answer.status == 200
        assert len(answer.body) > 100
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


ELSEWHERE = [
    *("/../server.py", "/..%2f..%2fserver.py", "/%2e%2e/%2e%2e/picture.py", "//etc/passwd", "/etc/passwd"),
    *(
        "/view.js/../server.py",
        "/assets/view.js",
        "/frame.html",
        "/picture.html/../../../pyproject.toml",
        "/api/tile/../about",
    ),
    *("/C:/windows/win.ini", "/view.js%00.png", "/model.safetensors", "/api/", "*"),
]


@pytest.mark.parametrize("path", ELSEWHERE)
def test_no_other_path_leads_anywhere(client: Client, path: str) -> None:
    assert client.ask(path).status == 404


def test_no_word_of_a_query_names_a_file(client: Client) -> None:
    for words in (
        "layer=../../x",
        "layer=field&m=../al",
        "m=0&t=../../0",
        "m=-1",
        "m=2",
        "m=0&t=7",
        "layer=scale9",
        "layer=alpha&m=1",
    ):
        answer = client.ask(f"/api/tile?m=0&z=0&x=0&y=0&{words}" if not words.startswith("m") else f"/api/tile?{words}")
        assert answer.status == 400, words
        assert answer.json()["error"]


FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
    {"Host": ""},
    {"Origin": "http://evil.example"},
    {"Sec_Fetch_Site": "cross-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_foreign_hosts_and_origins_are_refused(client: Client, headers: dict[str, str]) -> None:
    for path in ("/", "/view.js", "/api/about", "/api/tile?m=0&z=0&x=0&y=0"):
        answer = client.ask(path, **headers)
        assert answer.status == 403
        assert b"model" not in answer.body
    assert client.post("/api/reset", {"m": 0}, **headers).status == 403


def test_two_hosts_are_none(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=20) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nHost: {client.host}\r\nHost: evil.example\r\n\r\n".encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 403")


def test_changes_come_from_the_page_as_json(client: Client) -> None:
    assert client.ask("/api/reset", "POST", {"m": 0}).status == 403
    assert client.post("/api/reset", {"m": 0}).status == 200
    assert client.post("/api/reset", b"m=0", Content_Type="application/x-www-form-urlencoded").status == 415
    assert client.post("/api/reset", b"[1]").status == 400
    assert client.post("/api/reset", b"{" * 5000).status == 400
    assert client.post("/api/nothing", {}).status == 404
    assert client.ask("/api/reset").status == 404
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        assert client.ask("/", method).status == 501


def test_requests_are_bounded(client: Client, server: Server) -> None:
    assert client.ask("/?" + "a" * 4000).status == 414
    assert client.ask("/api/tile?" + "a=1&" * 40).status == 400
    assert client.post("/api/steer", b" " * (access.MAX_BODY + 1)).status == 413
    assert (
        client.ask("/api/reset", "POST", b"", Origin=f"http://{client.host}", Transfer_Encoding="chunked").status == 411
    )
    server.rate = access.RateLimiter(rate=0.001, burst=3)
    assert [client.ask("/api/stats").status for _ in range(4)] == [200, 200, 200, 429]


def test_tiles_in_line_are_bounded(client: Client, server: Server) -> None:
    started, hold = Event(), Event()
    server.viewer.tiles.close()
    server.viewer.tiles = BoundedExecutor(1, 0)
    with ThreadPoolExecutor(1) as others:
        first = others.submit(server.viewer.tiles.run, lambda: (started.set(), hold.wait(20))[1], lambda: True)
        assert started.wait(20)
        answer = client.ask("/api/tile?m=0&z=0&x=0&y=0")
        hold.set()
        assert first.result(timeout=20)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


def test_more_connections_than_a_page_opens_are_closed(client: Client, server: Server) -> None:
    held = [socket.create_connection(("127.0.0.1", client.port), timeout=20) for _ in range(access.MAX_CONNECTIONS)]
    try:
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as extra:
            assert extra.recv(10) == b""
    finally:
        for connection in held:
            connection.close()


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
    assert np.array_equal(
        tile(client, "m=0&layer=alpha&z=0&x=0&y=0")[..., 0], alpha_map(encoding, (HEIGHT, WIDTH)).detach().numpy()
    )
    maps = response_maps(encoding, (HEIGHT, WIDTH)).detach().numpy()
    for j in range(4):
        assert np.array_equal(tile(client, f"m=0&layer=scale{j}&z=0&x=0&y=0")[..., 0], maps[j])


def test_the_place_under_the_cursor(client: Client, runs: Path) -> None:
    field = load(runs / "al" / "model.safetensors")
    found = client.ask("/api/at?m=0&x=20.4&y=11").json()
    x = torch.tensor([[2 * 11 / (HEIGHT - 1) - 1, 2 * 20.4 / (WIDTH - 1) - 1]])
    encoding = filtered_encoding_of(field)
    assert encoding is not None
    with torch.inference_mode():
        assert found["value"] == pytest.approx(field(x)[0].tolist(), abs=1e-5)
        alpha = encoding.alpha(x)
        assert found["alpha"] == pytest.approx(float(alpha[0]), abs=1e-5)
        assert found["response"] == pytest.approx(band_response(alpha, 16, 6.0, 10.0)[0].tolist(), abs=1e-4)
        assert found["scales"] == pytest.approx(encoding.responses(x)[0].tolist(), abs=1e-4)
    truth = read_image(runs / "al" / "reference.png").data[11, 20] / 255
    assert found["sample"] == [20, 11]
    assert found["reference"] == pytest.approx(truth.tolist())
    assert found["error"] == pytest.approx(
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
    assert first["alpha"]["cycles"][1][3] == 8 / (WIDTH - 1)
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


def test_steering_and_saving(client: Client, runs: Path) -> None:
    words = "m=0&z=0&x=0&y=0"
    before = tile(client, words)
    answer = client.post("/api/steer", {"m": 0, "gesture": "g", "dabs": [[30, 20]], "radius": 6, "amount": 3}).json()
    assert answer["undo"] == 1
    assert answer["box"] == [14, 24, 26, 36]
    after = tile(client, words)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    inside = (rows - 20) ** 2 + (columns - 30) ** 2 < 36
    apart = np.abs(after.astype(int) - before).max(-1)
    assert apart[~inside].max() <= 4  # of 65535: the refined grid's last bits
    assert apart[inside].max() > 600
    assert np.array_equal(tile(client, f"{words}&v=0"), before)
    saved = client.post("/api/save", {"m": 0, "name": "mine"}).json()["file"]
    assert Path(saved) == runs / "al" / "mine.safetensors"
    assert np.abs(render(load(saved), View()).clamp(0, 1).numpy() - after / 65535).max() < 1 / 65535
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
    {"dabs": [[0, 0]], "kind": ["x"]},
]


@pytest.mark.parametrize("body", STROKES)
def test_odd_strokes_are_refused(client: Client, body: dict[str, object]) -> None:
    answer = client.post("/api/steer", {"m": 0, "radius": 9, "amount": 1, **body})
    assert answer.status == 400, answer.body


def test_a_tile_nobody_waits_for_is_not_evaluated(client: Client, server: Server) -> None:
    viewer, started, hold = server.viewer, Event(), Event()
    with ThreadPoolExecutor(1) as others:
        first = others.submit(viewer.tiles.run, lambda: (started.set(), hold.wait(20))[1], lambda: True)
        assert started.wait(20)
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as raw:
            raw.sendall(f"GET /api/tile?m=0&z=8&x=0&y=0 HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        answers = (time.sleep(0.02) or client.ask("/api/stats").json() for _ in range(500))
        assert next((stats for stats in answers if stats["cancelled"] == 1), None) is not None
        hold.set()
        assert first.result(timeout=20)
    assert client.ask("/api/stats").json() == {"evaluated": 1, "cancelled": 1, "cached": 0}


def test_a_taken_port_is_one_line(server: Server, runs: Path) -> None:
    port = server.server_address[1]
    said = complaint("view", runs / "al", "--port", str(port), "--no-browser")
    assert said == f"port {port} of 127.0.0.1 is taken; give another port, or 0 for any that is free"
    assert "cannot be used" in complaint("view", runs / "al", "--port", "99999", "--no-browser")
    assert "cannot be used" in complaint("view", runs / "al", "--host", "203.0.113.1", "--port", "0", "--no-browser")


def test_it_listens_on_this_machine_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"
