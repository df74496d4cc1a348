"""A short load on the page."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest
from benchmarks.campaigns.page import load_page, make_model

from alfilter.viewer.open import open_viewer
from alfilter.viewer.server import Server


def test_a_page_under_load_answers_everybody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Server(open_viewer([str(make_model(tmp_path))])) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        code = load_page(os.getpid(), thread.is_alive, server.server_address[1], total=60, clients=6, seed=1)
        server.shutdown()
        thread.join()
    message = capsys.readouterr().out
    assert code == 0, message
    assert "60 requests by 6 clients, seed 1" in message
    assert "500" not in message.splitlines()[0]
