"""Who may ask: names, origins, rates."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.viewer.access import RateLimiter, host_name, is_loopback, refusal

OURS = "127.0.0.1:8700"


@pytest.mark.parametrize("host", [OURS, "localhost:8700", "[::1]:8700", "127.0.0.1", "LOCALHOST:1"])
def test_loopback_names_enter(host: str) -> None:
    assert refusal({"Host": host}, "127.0.0.1", changes=False) is None


FOREIGN = [
    *("evil.example", "evil.example:8700", "192.168.0.7:8700", "", "a b", "127.0.0.1.evil.example"),
    *("localhost.evil.example", "127.0.0.1:8700@evil.example", "user@localhost"),
]


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_do_not(host: str) -> None:
    assert refusal({"Host": host}, "127.0.0.1", changes=False) == "this Host is not ours"
    assert refusal({}, "127.0.0.1", changes=False) == "this Host is not ours"


def test_other_origins_do_not() -> None:
    for origin in (
        "http://evil.example",
        "https://127.0.0.1:8700",
        "http://127.0.0.1:8701",
        "http://localhost:8700",
        "null",
    ):
        assert refusal({"Host": OURS, "Origin": origin}, "127.0.0.1", changes=True) == "this Origin is not ours"
    assert refusal({"Host": OURS, "Origin": f"http://{OURS}"}, "127.0.0.1", changes=True) is None


def test_changes_need_an_origin() -> None:
    assert refusal({"Host": OURS}, "127.0.0.1", changes=True) == "an Origin is needed"


def test_other_sites_do_not() -> None:
    for site in ("cross-site", "same-site"):
        assert refusal({"Host": OURS, "Sec-Fetch-Site": site}, "127.0.0.1", changes=False) == "another site asks"
    assert refusal({"Host": OURS, "Sec-Fetch-Site": "none"}, "127.0.0.1", changes=False) is None


def test_listening_for_others() -> None:
    for host in ("192.168.0.7:8700", f"{socket.gethostname()}:8700", OURS):
        if host_name(host) is not None:
            assert refusal({"Host": host}, "0.0.0.0", changes=False) is None
    assert refusal({"Host": "evil.example"}, "0.0.0.0", changes=False) == "this Host is not ours"
    assert refusal({"Host": "box.example:80"}, "box.example", changes=False) is None


@given(st.text(max_size=40))
def test_any_text_is_a_name_or_none(text: str) -> None:
    name = host_name(text)
    assert name is None or name == name.lower()
    is_loopback(text)


def test_the_rate_is_a_bucket() -> None:
    now = [0.0]
    rate = RateLimiter(rate=10, burst=3, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert rate.allows("b")
    now[0] = 0.1
    assert [rate.allows("a") for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
