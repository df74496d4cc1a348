"""`alfilter view`: where the page is, who can see it, and a browser only where there is a screen."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest
from tests.support.commands import alfilter, complaint, picture

from alfilter.commands.view import _open
from alfilter.methods import build
from alfilter.tasks import ImageTask
from alfilter.training import save
from alfilter.viewer.server import Server


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def stop(self: Server, poll_interval: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", stop)
    task = ImageTask.from_file(picture(tmp_path / "reference.png"))
    field = build("siren", in_dim=2, out_dim=3, width=4)
    field.signal = task.describe()
    save(field, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def test_it_says_where_the_page_is(model: Path) -> None:
    code, out, err = alfilter("view", model, "--port", "0", "--no-browser")
    assert (code, out) == (0, "")
    message = err.splitlines()
    assert message[0].startswith("alfilter: the page is at http://127.0.0.1:")
    assert message[-1] == "alfilter: the page is closed"


def test_an_open_address_is_pointed_out(model: Path) -> None:
    err = alfilter("view", model, "--port", "0", "--no-browser", "--host", "0.0.0.0").err
    assert "everyone who can reach this address can look at and steer the models" in err


def test_no_browser_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    _open("http://a")
    monkeypatch.setenv("DISPLAY", ":0")
    _open("http://b")
    assert opened == ["http://b"]


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    assert "expected" in complaint("view", tmp_path / "none.safetensors")
