"""Runs on Ray: what is said without it, and where nobody listens. Whole studies: see `test_sweep`."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from alfilter.errors import UserError
from alfilter.experiments.runner.ray import _check_port, _connect, _last_line, run_on_ray


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"needs the package ray; install it with: pip install 'alfilter\[ray\]'"):
        next(run_on_ray([], "local", 1))


class Client:
    """The parts of Ray's interface that joining a cluster needs."""

    def __init__(self, joined: bool) -> None:
        self.joined = joined
        self.calls: list[dict[str, Any]] = []

    def is_initialized(self) -> bool:
        return self.joined

    def init(self, **settings: Any) -> None:
        self.calls.append(settings)
        if settings.get("address") == "nowhere":
            raise ConnectionError("no\nanswer")


def test_joining_a_cluster() -> None:
    mine, theirs = Client(joined=False), Client(joined=True)
    assert not _connect(theirs, "local", 4), "a caller's own connection is left alone"
    assert theirs.calls == []
    assert _connect(mine, "local", 4)
    assert mine.calls[0]["num_cpus"] == 4
    with pytest.raises(UserError, match=r"no Ray cluster answers at nowhere \(no answer\); start one with"):
        _connect(Client(joined=False), "nowhere", 4)


def test_a_port_where_nobody_listens_fails_at_once() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.listen()
        _check_port(f"ray://127.0.0.1:{port}")
    with pytest.raises(OSError, match="refused"):
        _check_port(f"127.0.0.1:{port}")
    _check_port("auto")


def test_the_last_line_of_an_error() -> None:
    assert _last_line(ValueError("a\n  b  \n\n")) == "b"
    assert _last_line(ValueError("")) == "ValueError"
