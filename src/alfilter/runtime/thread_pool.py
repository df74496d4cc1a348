"""Micro-batches in parallel: one per thread, each with single-threaded tensor operations.

Parallelism over micro-batches instead of inside every operation needs one barrier per batch instead of one per
operation, keeps each core in its own cache, and stays fast when other programs use the cores too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import torch

A = TypeVar("A")
R = TypeVar("R")

_SMALL, _SMALLER = 1e-300, 1e-10  # whose product is denormal
_WORTH_SHARING = 1 << 21  # numbers: waking a thread takes as long as a pass over half a million of them

_inside = threading.local()  # has `pool` in the threads of `parallel_map`
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
    """`[function(item) for item in items]`, on up to `workers()` threads, in order; the first error is raised.

    Denormals are numbers there: a function that may flush them says so itself.
    """
    if workers() == 1 or len(items) <= 1 or hasattr(_inside, "pool"):  # its threads would wait for one another
        with flushed_denormals(False):  # as in the threads
            return [function(item) for item in items]
    return list(_pool(workers(), os.getpid()).map(function, items))


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

    An interrupt (Ctrl-C) may come between any two instructions, also right after a lock was taken: what is still to be
    done is read from the `_Call`, never from a lock.

    >>> helper = HelperThread()
    >>> helper.start(lambda: 3)
    >>> helper.result()
    3
    >>> helper.close()
    """

    def __init__(self) -> None:
        self._ready = threading.Lock()
        self._ready.acquire()
        self._call: _Call | None = None  # until its result is collected
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="alfilter", daemon=True)
        self._thread.start()

    def start(self, job: Callable[[], Any]) -> None:
        """Run a function there, after what it still does; `result` must follow."""
        self.settle()
        self._call = _Call(job)
        self._wake()

    def settle(self) -> None:
        """Wait until nothing runs there, and forget what came of it."""
        self._wait()
        self._call = None

    def _wait(self) -> None:
        """Wait until it is over. An interrupt is raised then, and nobody gets the result."""
        interrupt: BaseException | None = None
        while self._call is not None and self._call.outcome is None:
            try:
                if self._call.job is not None:  # the interrupt may have come before the thread was woken
                    self._wake()
                self._call.done.acquire()
            except BaseException as raised:
                interrupt = raised
        if interrupt is not None:
            self._call = None
            raise interrupt

    def result(self) -> Any:
        """Wait for it: what it returned, or its error. An interrupt is raised once it is over."""
        self._wait()
        call, self._call = self._call, None
        assert call is not None, "start comes before result"
        assert call.outcome is not None
        value, error = call.outcome
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the thread, after what it is doing."""
        self._closed = True
        self._wake()
        self._thread.join()

    def _wake(self) -> None:
        if self._ready.locked():
            self._ready.release()

    def _serve(self) -> None:
        use_one_thread(flushed=True)
        while not self._closed:
            self._ready.acquire()
            self._run()

    def _run(self) -> None:
        """Run what is there, if anything is: the thread may have been woken twice."""
        call = self._call
        if call is not None and call.job is not None:
            call.run()


class _Call:
    """A function that another thread runs. job: until it begins. outcome: value and error, once it is over.

    done: a lock that is released then.
    """

    def __init__(self, job: Callable[[], Any]) -> None:
        self.job: Callable[[], Any] | None = job
        self.outcome: tuple[Any, BaseException | None] | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        job, self.job = self.job, None
        assert job is not None
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = job(), None
        except BaseException as error:
            outcome = None, error
        del job  # what it refers to may be closed as soon as the outcome is there
        self.outcome = outcome
        self.done.release()


def run_beside(helpers: Sequence[HelperThread], jobs: Sequence[Callable[[], R]]) -> list[R]:
    """The results of all jobs, the first of which runs in this thread; the first error is raised once all are over."""
    try:
        for helper, job in zip(helpers, jobs[1:], strict=True):
            helper.start(job)
        return [jobs[0](), *(helper.result() for helper in helpers)]
    except BaseException:
        for helper in helpers:
            with suppress(BaseException):
                helper.settle()
        raise


def use_one_thread(flushed: bool = False) -> None:
    """Run torch's operations in the calling thread on one core, and flush denormals to zero or not.

    torch keeps that number per thread, but when a thread first asks for it, it is set to what any thread set last. And
    a thread flushes if the one that made it did.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(flushed)


@cache
def _helpers(count: int, process: int) -> list[HelperThread]:
    """The helpers of a process: a fork has none of its parent's threads."""
    return [HelperThread() for _ in range(count)]


def _enter_pool() -> None:
    use_one_thread()
    _inside.pool = True


@cache
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """The threads of a process: a fork has none of its parent's."""
    return ThreadPoolExecutor(count, thread_name_prefix="alfilter", initializer=_enter_pool)
