"""Waiting for what another process does: on what everybody can see, with a deadline that only a hung process meets."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain"
        time.sleep(0.005)


def is_alive(process: int) -> bool:
    """Whether a process runs, and is not just waiting to be collected by its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
