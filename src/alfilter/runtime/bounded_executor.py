"""A thread pool with a bounded queue, from which cancelled requests are removed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import TypeVar

R = TypeVar("R")


class QueueFull(Exception):
    """The queue is full: try again in a moment."""


class Cancelled(Exception):
    """The caller is gone; the work was not run."""


class BoundedExecutor:
    """Runs functions on `threads` threads, with at most `queued` of them waiting.

    Torch keeps a pool of its own for every thread that calls it, so evaluation stays on these few. completed,
    cancelled: how many functions have been run, and how many were removed from the queue.

    >>> executor = BoundedExecutor(threads=1, queued=2)
    >>> executor.run(lambda: 6 * 7, is_wanted=lambda: True)
    42
    >>> executor.close()
    """

    def __init__(self, threads: int, queued: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="alfilter-view")
        self._capacity = threads + queued
        self._lock = Lock()
        self._accepted = 0
        self.completed = self.cancelled = 0

    def run(self, work: Callable[[], R], is_wanted: Callable[[], bool], poll: float = 0.03) -> R:
        """The result of `work`, or its exception.

        is_wanted: asked every `poll` seconds while the work is queued; a no raises `Cancelled`.
        """
        with self._lock:
            if self._accepted >= self._capacity:
                raise QueueFull
            self._accepted += 1
        future: Future[R] = self._pool.submit(self._start, work, is_wanted)
        try:
            while True:
                try:
                    return future.result(timeout=poll)
                except NotYet:
                    if future.done():  # since then, or the work's own timeout
                        return future.result()
                if not is_wanted() and future.cancel():
                    raise Cancelled
        except Cancelled:
            self.cancelled += 1
            raise
        finally:
            with self._lock:
                self._accepted -= 1

    def _start(self, work: Callable[[], R], is_wanted: Callable[[], bool]) -> R:
        if not is_wanted():
            raise Cancelled
        result = work()
        self.completed += 1
        return result

    def close(self) -> None:
        """Wait for what runs, remove what is queued."""
        self._pool.shutdown(wait=True, cancel_futures=True)
