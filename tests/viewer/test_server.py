"""The server: its own assets and the given models, and nothing else."""

from __future__ import annotations

import json
import math
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event, Semaphore

import pytest
from tests.support.commands import complaint
from tests.viewer.conftest import Client

from alfilter.analysis import filtered_encoding_of
from alfilter.runtime.bounded_executor import BoundedExecutor
from alfilter.viewer import access
from alfilter.viewer.base import Request
from alfilter.viewer.model import Model
from alfilter.viewer.picture import PictureViewer
from alfilter.viewer.server import ASSETS, Server, finite


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


def test_an_internal_error_is_answered_and_logged(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(model: Model) -> list[list[float]]:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(Model, "history", broken)
    answer = client.ask("/api/history?m=0")
    assert answer.status == 500
    assert answer.json()["error"] == "ZeroDivisionError: broken on purpose"
    assert "internal error in the answer to /api/history?m=0" in caplog.text
    assert "in broken" in caplog.text  # where it happened


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
    assert client.ask("/api/reset", "POST", None, Content_Length="9" * 5000).status == 411
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


def test_silent_connections_are_evicted(client: Client, server: Server) -> None:
    """As many as there may be, none of which asks anything: the longest silent one is closed for a new one."""
    held = [socket.create_connection(("127.0.0.1", client.port), timeout=20) for _ in range(access.MAX_CONNECTIONS)]
    try:
        assert client.ask("/api/stats").status == 200
        assert held[0].recv(10) == b""
    finally:
        for connection in held:
            connection.close()


def test_connections_that_are_all_being_answered_leave_no_room(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, hold = Semaphore(0), Event()

    def slow(request: Request) -> dict[str, int]:
        started.release()
        hold.wait(20)
        return {}

    monkeypatch.setattr(type(server.viewer), "reads", {"/api/stats": slow})
    with ThreadPoolExecutor(access.MAX_CONNECTIONS) as others:
        asked = [others.submit(client.ask, "/api/stats") for _ in range(access.MAX_CONNECTIONS)]
        assert all(started.acquire(timeout=20) for _ in asked)
        with socket.create_connection(("127.0.0.1", client.port), timeout=20) as extra:
            assert extra.recv(10) == b""
        hold.set()
        assert {answer.result().status for answer in asked} == {200}


@pytest.mark.parametrize("start", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: x", b"POST /api/reset HTTP/1.1\r\nHost: "])
def test_a_request_that_trickles_in_is_closed(
    start: bytes, client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "REQUEST_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", client.port), timeout=20) as slow:
        slow.sendall(start)
        with suppress(ConnectionError):
            for _ in range(200):
                slow.sendall(b"a")
                slow.settimeout(0.05)
                try:
                    if slow.recv(100) == b"":
                        break
                except TimeoutError:
                    continue
            else:
                pytest.fail("ten seconds of single bytes were taken")


def test_numbers_that_json_does_not_have(client: Client, server: Server) -> None:
    viewer = server.viewer
    assert isinstance(viewer, PictureViewer)
    encoding = filtered_encoding_of(viewer.models[0].original)
    assert encoding is not None
    encoding.alpha.low, encoding.alpha.high = -math.inf, math.inf
    text = client.ask("/api/about").body.decode()
    assert "Infinity" not in text
    assert "NaN" not in text
    low, high = json.loads(text)["models"][0]["alpha"]["bounds"]
    assert low < high
    assert finite({"a": [math.nan, -math.inf, (1, 2.5)], "b": "x"}) == {"a": [None, None, [1, 2.5]], "b": "x"}


@pytest.mark.parametrize("name", ["checkpoint", "checkpoint.safetensors", "model"])
def test_a_name_that_a_run_uses_itself_is_refused(client: Client, runs: Path, name: str) -> None:
    answer = client.post("/api/save", {"m": 0, "name": name})
    assert answer.status == 400
    assert "is a name that every run folder uses itself" in answer.json()["error"]
    assert not (runs / "al" / "checkpoint.safetensors").exists()


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
    message = complaint("view", runs / "al", "--port", str(port), "--no-browser")
    assert message == f"port {port} of 127.0.0.1 is taken; give another port, or 0 for any that is free"
    assert "--port must be between 0 and 65535, got 99999" in complaint("view", "none", "--port", "99999")
    assert "cannot be used" in complaint("view", runs / "al", "--host", "203.0.113.1", "--port", "0", "--no-browser")


def test_it_listens_on_this_machine_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"
