"""Who evaluates: a few threads with a short queue, from which work nobody waits for any more is taken out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import TypeVar

R = TypeVar("R")


class Busy(Exception):
    """The queue is full: ask again in a moment."""


class Dropped(Exception):
    """Whoever asked is gone; the work was not done."""


class Lanes:
    """Runs functions on `count` threads, at most `waiting` in line behind them.

    Torch keeps a team of threads for every thread that calls it, so evaluation stays on these few.
    """

    def __init__(self, count: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="alfilter-view")
        self._room = count + waiting
        self._lock = Lock()
        self._inside = 0
        self.done = self.dropped = 0

    def run(self, work: Callable[[], R], is_wanted: Callable[[], bool], every: float = 0.03) -> R:
        """The result of `work`; `is_wanted` is asked while it waits in line, and a no takes it out."""
        with self._lock:
            if self._inside >= self._room:
                raise Busy
            self._inside += 1
        future: Future[R] = self._pool.submit(self._begin, work, is_wanted)
        try:
            while True:
                try:
                    return future.result(timeout=every)
                except NotYet:
                    if future.done():  # the work's own timeout
                        raise
                if not is_wanted() and future.cancel():
                    raise Dropped
        except Dropped:
            self.dropped += 1
            raise
        finally:
            with self._lock:
                self._inside -= 1

    def _begin(self, work: Callable[[], R], is_wanted: Callable[[], bool]) -> R:
        if not is_wanted():
            raise Dropped
        result = work()
        self.done += 1
        return result

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
