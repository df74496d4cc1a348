"""The local server of the page: its own assets and the viewer's answers, nothing else.

Differs from a general web server in: a fixed list of paths, one thread per connection and few of them, everything
unknown refused. No path of a request is ever opened.
"""

from __future__ import annotations

import json
import logging
import math
import re
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from io import BufferedReader
from threading import BoundedSemaphore, Lock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from alfilter.errors import UserError
from alfilter.runtime.bounded_executor import Cancelled, QueueFull
from alfilter.viewer import access
from alfilter.viewer.base import Answer, Binary, Forbidden, Request, Viewer
from alfilter.viewer.template import page_html

_SCRIPTS = ("view.js", "camera.js", "tiles.js", "colours.js", "plots.js", "controls.js", "tour.js", "shape.js",
            "scene.js", "sound-page.js")  # fmt: skip
_SHARED = ("sections.js", "sound.js", "brush.js")  # with the exported page
ASSETS = {  # path: the package it is in, its name, its type
    **{f"/{name}": ("alfilter.viewer", name, "text/javascript; charset=utf-8") for name in _SCRIPTS},
    **{f"/{name}": ("alfilter.export", name, "text/javascript; charset=utf-8") for name in _SHARED},
    **{
        f"/{name}": ("alfilter.viewer", name, "text/css; charset=utf-8")
        for name in ("view.css", "shape.css", "sound.css")
    },
    "/favicon.svg": ("alfilter.viewer", "favicon.svg", "image/svg+xml"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(ThreadingHTTPServer):
    """Listens on one address for the page of one viewer."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 32

    def __init__(self, viewer: Viewer, host: str = "127.0.0.1", port: int = 0) -> None:
        self.viewer, self.host = viewer, host.strip("[]")
        self.rate = access.RateLimiter()
        self._free = BoundedSemaphore(access.MAX_CONNECTIONS)
        self._lock = Lock()
        self._silent: dict[Any, None] = {}  # connections that are waited for, the longest first
        if ":" in self.host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((self.host, port), Handler)
        except (OSError, OverflowError) as error:
            taken = isinstance(error, OSError) and error.errno in (48, 98, 10048)
            why = "is taken" if taken else f"cannot be used ({error.strerror if isinstance(error, OSError) else error})"
            raise UserError(f"port {port} of {host} {why}; give another port, or 0 for any that is free") from error

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.server_address[1]}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False) and not self._evict_silent():
            self.shutdown_request(request)  # more connections than a page opens, and all of them are answered
            return
        self.note_silent(request, True)  # here, in the order of arrival: threads start in any order
        super().process_request(request, client_address)

    def _evict_silent(self) -> bool:
        """Close the connection that has been silent or slow for longest; whether another one may take its place."""
        with self._lock:
            silent = next(iter(self._silent), None)
        if silent is None:
            return False
        with suppress(OSError):
            silent.shutdown(socket.SHUT_RDWR)
        return self._free.acquire(timeout=access.EVICTION_SECONDS)

    def note_silent(self, connection: Any, is_silent: bool) -> None:
        """Whether a connection is waited for, from its last answer until its next request has arrived as a whole."""
        with self._lock:
            if is_silent:
                self._silent.setdefault(connection)
            else:
                self._silent.pop(connection, None)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.note_silent(request, False)
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not our error; anything else was answered and is not printed."""

    def server_close(self) -> None:
        super().server_close()
        self.viewer.close()


class RequestReader(socket.SocketIO):
    """The bytes of requests: the first of one may take long, all of them no longer than a deadline from then on."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection, "r")
        self.connection = connection
        self.deadline: float | None = None

    def readinto(self, buffer: Any) -> int | None:
        left = access.IDLE_SECONDS if self.deadline is None else self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request takes too long")
        self.connection.settimeout(left)
        try:
            count = super().readinto(buffer)
        finally:
            self.connection.settimeout(access.IDLE_SECONDS)  # for the answer
        if self.deadline is None:
            self.deadline = time.monotonic() + access.REQUEST_SECONDS
        return count


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "alfilter", ""
    timeout = access.IDLE_SECONDS
    disable_nagle_algorithm = True
    server: Server

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._arriving = RequestReader(self.connection)
        self.rfile = BufferedReader(self._arriving)

    def handle_one_request(self) -> None:
        if self._arriving.deadline is not None:  # answered once: it is waited for from now on
            self.server.note_silent(self.connection, False)
        self._arriving.deadline = None
        self.server.note_silent(self.connection, True)
        super().handle_one_request()

    def parse_request(self) -> bool:
        parsed = super().parse_request()
        if not self.headers or not self.headers.get("Content-Length"):
            self.server.note_silent(self.connection, False)
        return parsed

    def do_GET(self) -> None:
        if not self._is_allowed(changes=False):
            return
        try:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query, max_num_fields=12))
        except ValueError:
            self._refuse(400, "this is no address of ours")
            return
        if parts.path == "/":
            self._send(200, page_html(self.server.viewer.page), "text/html; charset=utf-8")
        elif parts.path in ASSETS:
            package, name, kind = ASSETS[parts.path]
            self._send(200, resources.files(package).joinpath("assets", name).read_bytes(), kind)
        else:
            self._answer(self.server.viewer.reads.get(parts.path), query)

    def do_POST(self) -> None:
        body = self._body()
        if body is not None:
            self._answer(self.server.viewer.changes.get(self.path), body)

    def _is_allowed(self, changes: bool) -> bool:
        if len(self.path) > access.MAX_PATH:
            self._refuse(414, "the request is too long")
        elif not self.server.rate.allows(self.client_address[0]):
            self._refuse(429, "too many requests")
        elif (reason := access.refusal(_single(self.headers), self.server.host, changes)) is not None:
            self._refuse(403, reason)
        else:
            return True
        return False

    def _body(self) -> dict[str, Any] | None:
        """The JSON object of a request that changes something; None when it was refused."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,15}", length) or "Transfer-Encoding" in self.headers:
            self._refuse(411, "a length is needed")
            return None
        if int(length) > access.MAX_BODY:
            self._refuse(413, "the request is too large")
            return None
        if self.headers.get_content_type() != "application/json":
            self._refuse(415, "JSON is expected")
            return None
        text = self.rfile.read(int(length))
        self.server.note_silent(self.connection, False)
        if not self._is_allowed(changes=True):
            return None
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self._refuse(400, "a JSON object is expected")
            return None
        return body

    def _answer(self, answer: Answer | None, values: Mapping[str, Any]) -> None:
        if answer is None:
            self._refuse(404, "there is nothing here")
            return
        try:
            result = answer(Request(values, self._is_listening, self._is_local()))
        except UserError as error:
            self._send_json(400, {"error": " ".join(str(error).split())})
        except Forbidden as error:
            self._refuse(403, str(error))
        except QueueFull:
            self._send_json(503, {"error": "too many tiles at once"}, {"Retry-After": "1"})
        except Cancelled:
            self.close_connection = True
        except Exception as error:  # the page shows it instead of waiting for ever
            logging.getLogger("alfilter").error("internal error in the answer to %s", self.path, exc_info=error)
            self._send_json(500, {"error": f"{type(error).__name__}: {error}"[:200]})
        else:
            if isinstance(result, Binary):
                self._send(200, result.data, "application/octet-stream", {"X-Tile": result.description})
            else:
                self._send_json(200, result)

    def _is_listening(self) -> bool:
        """Whether the client still waits: a page that moved on has closed this connection."""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return not readable or self.connection.recv(1, socket.MSG_PEEK) != b""
        except (OSError, ValueError):
            return False

    def _is_local(self) -> bool:
        return access.is_loopback(self.client_address[0].removeprefix("::ffff:"))

    def _refuse(self, code: int, reason: str) -> None:
        self.close_connection = True  # what follows on this connection is not read
        self._send_json(code, {"error": reason})

    def _send_json(self, code: int, value: Any, extra: Mapping[str, str] | None = None) -> None:
        self._send(code, json.dumps(finite(value), allow_nan=False).encode(), "application/json", extra)

    def _send(self, code: int, data: bytes, kind: str, extra: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        headers = {"Content-Type": kind, "Content-Length": str(len(data)), **HEADERS, **(extra or {})}
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: stderr is for what a person should read."""


def finite(value: Any) -> Any:
    """The same value for JSON, which has no NaN and no infinity: null takes their place.

    >>> finite({"psnr": [float("inf"), 1.5]})
    {'psnr': [None, 1.5]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: finite(entry) for name, entry in value.items()}
    return [finite(entry) for entry in value] if isinstance(value, list | tuple) else value


def _single(headers: Any) -> dict[str, str]:
    """Headers by name; a repeated one is left out, since it is unclear which of them counts."""
    names = {name.title() for name in headers}
    return {name: headers[name] for name in names if len(headers.get_all(name)) == 1}
