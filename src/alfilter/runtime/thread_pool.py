"""Micro-batches in parallel: one per thread, each with single-threaded tensor operations.

Parallelism over micro-batches instead of inside every operation needs one barrier per batch instead of one per
operation, keeps each core in its own cache, and stays fast when other programs use the cores too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import torch

A = TypeVar("A")
R = TypeVar("R")

_SMALL, _SMALLER = 1e-300, 1e-10  # whose product is denormal
_WORTH_SHARING = 1 << 21  # numbers: waking a thread takes as long as a pass over half a million of them

_busy = threading.Lock()  # held while the helpers of `for_slices` work
_reserved: int | None = None  # the threads that `single_threaded_ops` took from torch's own operations


def workers() -> int:
    """How many micro-batches run at once: torch's number of threads."""
    return torch.get_num_threads() if _reserved is None else _reserved


@contextmanager
def single_threaded_ops() -> Iterator[None]:
    """Inside, all cores work on micro-batches, and the operations between them run on one.

    Those are small (an optimiser's update of a few hundred thousand numbers), and splitting each of them makes every
    one wait for the slower core: harmless on an idle machine, twice the time of a step on a busy one.
    """
    global _reserved
    before, _reserved = _reserved, workers()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _reserved = before


@contextmanager
def flushed_denormals(flushed: bool = True) -> Iterator[None]:
    """Inside, this thread takes denormals, numbers below 1e-38, for zero, or does not.

    The tails of Gaussians and of the filter are full of them, and some processors take a hundred times as long for
    each. Only for our own passes: scipy's trees of points never end when the number next to 0 is 0.
    """
    before = _SMALL * _SMALLER == 0  # torch can set it, and does not tell
    torch.set_flush_denormal(flushed)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def parallel_map(function: Callable[[A], R], items: Sequence[A]) -> list[R]:
    """`[function(item) for item in items]`, on up to `workers()` threads, in order; the first error is raised."""
    if workers() == 1 or len(items) <= 1:
        with flushed_denormals():  # as the threads do
            return [function(item) for item in items]
    return list(_pool(workers()).map(function, items))


def for_slices(function: Callable[[slice], object], count: int, worth_sharing: int | None = None) -> None:
    """`function` of slices that make up [0, count): one per worker, or a single one where waking threads costs more.

    For elementwise work, whose result does not depend on how it is split. worth_sharing: the least count that is
    split.

    >>> for_slices(print, 3)
    slice(0, 3, None)
    """
    parts = workers() if count >= (worth_sharing or _WORTH_SHARING) else 1
    cuts = [count * part // parts for part in range(parts + 1)]
    slices = [slice(begin, end) for begin, end in pairwise(cuts)]
    if parts == 1 or not _busy.acquire(blocking=False):  # another thread uses the helpers
        for part in slices:
            function(part)
        return
    try:
        run_beside(_helpers(parts - 1, os.getpid()), [lambda part=part: function(part) for part in slices])  # type: ignore[misc]
    finally:
        _busy.release()


class HelperThread:
    """A thread that runs one function at a time; waking it and waiting takes two locks, less than half a future's cost.

    >>> helper = HelperThread()
    >>> helper.start(lambda: 3)
    >>> helper.result()
    3
    >>> helper.close()
    """

    def __init__(self) -> None:
        self._ready, self._done = threading.Lock(), threading.Lock()
        self._ready.acquire()
        self._done.acquire()
        self._job: Callable[[], Any] | None = None
        self._outcome: tuple[Any, BaseException | None] = None, None
        self._thread = threading.Thread(target=self._serve, name="alfilter", daemon=True)
        self._thread.start()

    def start(self, job: Callable[[], Any]) -> None:
        """Run a function there; `result` must follow."""
        self._job = job
        self._ready.release()

    def result(self) -> Any:
        """Wait for it: what it returned, or its error. An interrupt is raised once it is over."""
        interrupt: BaseException | None = None
        while True:
            try:
                self._done.acquire()
                break
            except BaseException as raised:
                interrupt = raised
        (value, error), self._outcome = self._outcome, (None, None)
        error = interrupt or error
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the thread, after what it is doing."""
        self._job = None
        self._ready.release()
        self._thread.join()

    def _serve(self) -> None:
        use_one_thread()
        while True:
            self._ready.acquire()
            job, self._job = self._job, None
            if job is None:
                return
            try:
                self._outcome = job(), None
            except BaseException as error:
                self._outcome = None, error
            del job  # what it refers to may be closed meanwhile
            self._done.release()


def run_beside(helpers: Sequence[HelperThread], jobs: Sequence[Callable[[], R]]) -> list[R]:
    """The results of all jobs, the first of which runs in this thread; the first error is raised once all are over."""
    for helper, job in zip(helpers, jobs[1:], strict=True):
        helper.start(job)
    outcomes: list[tuple[Any, BaseException | None]] = []
    for run in (jobs[0], *(helper.result for helper in helpers)):
        try:
            outcomes.append((run(), None))
        except BaseException as raised:
            outcomes.append((None, raised))
    for _, error in outcomes:
        if error is not None:
            raise error
    return [value for value, _ in outcomes]


def use_one_thread() -> None:
    """Run torch's operations in the calling thread on one core, and flush denormals to zero.

    torch keeps that number per thread, but when a thread first asks for it, it is set to what any thread set last.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


@cache
def _helpers(count: int, process: int) -> list[HelperThread]:
    """The helpers of a process: a fork has none of its parent's threads."""
    return [HelperThread() for _ in range(count)]


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="alfilter", initializer=use_one_thread)
