"""Which requests are answered: rules for hosts and origins as pure functions, and a rate limit."""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from collections.abc import Callable, Mapping
from threading import Lock

MAX_PATH = 2048  # characters of a request's path
MAX_BODY = 64 << 10  # bytes of a request's body
MAX_CONNECTIONS = 64  # open at once
RATE, BURST = 400.0, 800.0  # requests per second, and at once, from one address
IDLE_SECONDS = 30.0  # of silence before a connection is closed
REQUEST_SECONDS = 5.0  # from the first byte of a request to its last
EVICTION_SECONDS = 1.0  # that a connection may take to end after it was closed


def is_loopback(host: str) -> bool:
    """Whether an address or name means this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(header: str | None) -> str | None:
    """The name in a Host header, without its port; None when it is not one.

    >>> host_name("localhost:8700"), host_name("[::1]:8700"), host_name("a b"), host_name(None)
    ('localhost', '::1', None, None)
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253}))(?::\d{1,5})?", header or "")
    return (match[1] or match[2]).lower() if match else None


def refusal(headers: Mapping[str, str], bound: str, changes: bool) -> str | None:
    """Why a request is refused, or None.

    A page of another site can make the browser send requests here, also under a host name of its own that resolves to
    this address (DNS rebinding). Such a name shows in Host, and such a page in Origin or Sec-Fetch-Site. bound: the
    address that is listened on. changes: whether the request changes something, which needs our own Origin.
    """
    host = headers.get("Host")
    name = host_name(host)
    if name is None or not _is_ours(name, bound):
        return "this Host is not ours"
    origin = headers.get("Origin")
    if origin is not None and origin != f"http://{host}":
        return "this Origin is not ours"
    if changes and origin is None:
        return "an Origin is needed"
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return "another site asks"
    return None


def _is_ours(name: str, bound: str) -> bool:
    if is_loopback(name) or name == bound.strip("[]").lower():
        return True
    if is_loopback(bound):
        return False
    # listening for others: by address, or by the machine's own name
    return _is_address(name) or name in (socket.gethostname().lower(), f"{socket.gethostname().lower()}.local")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class RateLimiter:
    """A token bucket per address: it fills with `rate` tokens per second up to `burst`, every request takes one."""

    def __init__(self, rate: float = RATE, burst: float = BURST, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def allows(self, address: str) -> bool:
        now = self.clock()
        with self._lock:
            level, last = self._buckets.get(address, (self.burst, now))
            level = min(self.burst, level + (now - last) * self.rate)
            if len(self._buckets) > 1024:
                self._buckets.clear()
            self._buckets[address] = (level - 1 if level >= 1 else level), now
            return level >= 1
