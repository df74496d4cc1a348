"""Small models, a server for them, and a browser, for all tests of the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.support.chromium import chromium
from tests.support.commands import picture

from alfilter.methods import build
from alfilter.tasks import ImageTask
from alfilter.training import fit, save
from alfilter.viewer.open import open_viewer
from alfilter.viewer.server import Server

HEIGHT, WIDTH = 40, 52
NO_SANDBOX = ["--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc"]


@dataclass
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Requests to a server, with any headers."""

    def __init__(self, server: Server) -> None:
        self.port = server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask(path, "POST", body, **{"Origin": f"http://{self.host}", **headers})


def make_run(folder: Path, method: str, **options: Any) -> Path:
    """A tiny run folder: a picture, its field after a few steps, a history, two snapshots."""
    folder.mkdir(parents=True)
    task = ImageTask.from_file(picture(folder / "reference.png", HEIGHT, WIDTH))
    field = build(method, in_dim=2, out_dim=3, samples=task.samples, width=24, depth=2, **options)
    (folder / "snapshots").mkdir()
    history: list[dict[str, Any]] = []
    field.signal = task.describe()
    save(field, folder / "snapshots" / "0.safetensors")
    fit(field, task, steps=60, lr=2e-3, on_log=history.append)
    save(field, folder / "model.safetensors")
    shutil.copy(folder / "model.safetensors", folder / "snapshots" / "60.safetensors")
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in history))
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("viewer")
    make_run(
        home / "al", "al-sine", levels=4, bandwidth=6.0, grid=16, start=3.0, unit="axis", coordinates=True, omega=20.0
    )
    make_run(home / "siren", "siren")
    return home


@pytest.fixture
def runs(trained: Path, tmp_path: Path) -> Path:
    """The run folders, a copy for this test alone."""
    shutil.copytree(trained, tmp_path / "runs")
    return tmp_path / "runs"


def make_server(*folders: Path) -> Server:
    return Server(open_viewer([str(folder) for folder in folders]))


@pytest.fixture
def server(runs: Path) -> Iterator[Server]:
    """A page about both models."""
    with make_server(runs / "al", runs / "siren") as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def client(server: Server) -> Client:
    return Client(server)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(NO_SANDBOX) as opened:
        yield opened
