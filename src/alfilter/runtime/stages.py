"""Stages of a run outside its training (reading, scoring, drawing), for a progress display: progress and time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock


class Stopped(KeyboardInterrupt):
    """The user asked to stop at a moment when nothing has to be finished first. number: of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


@dataclass(frozen=True)
class Stage:
    """The progress of a stage: `done` in [0, 1] and `left` in seconds, None where its length is not known."""

    name: str
    done: float | None
    left: float | None
    seconds: float


Listener = Callable[[Stage], None]
PLACES, PICTURES = "places", "pictures"  # what a stage is counted in

_listener: Listener | None = None
_current: Meter | None = None


class Meter:
    """Counts what a stage has done; `advance` may be called by any thread."""

    def __init__(self, name: str, total: int | None, unit: str, listener: Listener | None) -> None:
        self.name, self.total, self.unit, self.listener = name, total, unit, listener
        self._count, self._began, self._lock = 0, time.monotonic(), Lock()
        self._tell()

    def advance(self, count: int, unit: str) -> None:
        """Add what was done; other units count parts of something that is not finished yet, and are ignored."""
        if unit == self.unit:
            with self._lock:
                self._count += count
                self._tell()

    def _tell(self) -> None:
        if self.listener is None:
            return
        seconds = time.monotonic() - self._began
        if not self.total:
            self.listener(Stage(self.name, None, None, seconds))
            return
        done = min(1.0, self._count / self.total)
        left = seconds * (1 - done) / done if done > 0 else None
        self.listener(Stage(self.name, done, left, seconds))


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> clock_text(75), clock_text(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


@contextmanager
def watching(listener: Listener) -> Iterator[None]:
    """Inside, `listener` is called with the progress of every stage."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def stage(name: str, total: int | None = None, unit: str = PLACES) -> Iterator[None]:
    """A stage of known or unknown length. total: its length in `unit`, as `advance` counts them.

    >>> with watching(lambda stage: print(stage.name, stage.done)), stage("scoring", 4):
    ...     advance(1)
    ...     advance(3)
    scoring 0.0
    scoring 0.25
    scoring 1.0
    """
    global _current
    before, _current = _current, Meter(name, total, unit, _listener)
    try:
        yield
    finally:
        _current = before


def advance(count: int = 1, unit: str = PLACES) -> None:
    """Add `count` units to the progress of the current stage, if any."""
    if _current is not None:
        _current.advance(count, unit)
