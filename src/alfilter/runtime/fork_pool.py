"""A pool that runs the same work at several positions, in processes forked from this one where the system can.

Python threads take turns in the interpreter, and every tensor operation ends one turn and waits for the next. Next to
operations of milliseconds that is nothing; a step of a small network on a few thousand samples lost a third of its time
to it on two cores, and more cores would only wait more. A forked worker has an interpreter of its own and a copy of
everything this process had; what all of them must see lies in memory from `shared_copy`.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.runtime.thread_pool import HelperThread, flushed_denormals, run_beside, use_one_thread

M = TypeVar("M")
R = TypeVar("R")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else []))

_worker_seconds = 0.0  # CPU time of all worker processes so far


def cpu_seconds() -> float:
    """CPU time of this process and its workers."""
    return time.process_time() + _worker_seconds


def can_fork() -> bool:
    """Whether workers may be processes: on Linux, unless a GPU driver, which a fork breaks, is in use.

    macOS has the call, but its own libraries do not survive it.
    """
    return sys.platform.startswith("linux") and not torch.cuda.is_available()


def shared_copy(tensor: Tensor) -> Tensor:
    """A copy of a CPU tensor in memory shared with all processes forked from now on.

    >>> shared_copy(torch.arange(3.0))
    tensor([0., 1., 2.])
    """
    if tensor.numel() == 0:
        return tensor.clone()
    memory = mmap.mmap(-1, tensor.numel() * tensor.element_size())
    copy = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel()).view(tensor.shape)
    return copy.copy_(tensor)


class WorkerLost(UserError):
    """A worker process ended, so the work of this message was not done."""

    def __init__(self) -> None:
        super().__init__(
            "a worker process of this fit ended unexpectedly (out of memory?); "
            "resume the run to continue; fewer threads need less memory"
        )


class ForkPool(Generic[M, R]):
    """Runs `work(position, message)` at positions 0, 1, …, size-1; position 0 runs in the calling thread.

    work: sees its variables as they were when the pool was made. enter: called once in every worker process. forked:
    whether workers are processes, not threads; None asks `can_fork`. most: of them, this one included; with fewer than
    positions each takes several, one after the other, which costs less than letting them compete for the cores.

    >>> with ForkPool(lambda position, message: position + message, 2, forked=False) as pool:
    ...     pool.run(10)
    [10, 11]
    """

    def __init__(
        self,
        work: Callable[[int, M], R],
        size: int,
        enter: Callable[[], object] = lambda: None,
        forked: bool | None = None,
        most: int | None = None,
    ) -> None:
        count = min(size, most or size)
        self.work, self.size = work, size
        self._positions = [range(worker, size, count) for worker in range(count)]
        self._seconds: list[float] = [0.0] * (count - 1)
        self._threads: list[HelperThread] = []
        self._pipes: list[Connection] = []
        pids: list[int] = []
        self._finalizer = weakref.finalize(self, _stop_workers, os.getpid(), pids, self._pipes)
        if count > 1 and (can_fork() if forked is None else forked):
            with suppress(OSError):  # process limit reached or out of memory: threads instead
                for worker in range(1, count):
                    pids.append(self._fork(worker, enter))
        if len(pids) < count - 1:
            _stop_workers(os.getpid(), pids, self._pipes)
            self._pipes.clear()
            pids.clear()
            self._threads = [HelperThread() for _ in range(count - 1)]

    def __enter__(self) -> ForkPool[M, R]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, message: M) -> list[R]:
        """The results of all positions, in order; the first error is raised and closes the pool."""
        global _worker_seconds
        try:
            for pipe in self._pipes:
                _send(pipe, message)
            here = range(len(self._positions)) if self._threads else range(1)
            results = run_beside(self._threads, [partial(self._share, worker, message) for worker in here])
            for worker, pipe in enumerate(self._pipes):
                result, seconds = _receive(pipe)
                _worker_seconds += seconds - self._seconds[worker]
                self._seconds[worker] = seconds
                results.append(result)
        except BaseException:
            self.close()  # a worker may still be busy, and its reply would be read as the next one
            raise
        count = len(results)
        return [results[position % count][position // count] for position in range(self.size)]

    @flushed_denormals()
    def _share(self, worker: int, message: M) -> list[R]:
        """What one of the workers does."""
        return [self.work(position, message) for position in self._positions[worker]]

    def close(self) -> None:
        """End the workers."""
        self._finalizer()
        while self._threads:
            self._threads.pop().close()

    def _fork(self, worker: int, enter: Callable[[], object]) -> int:
        ours, theirs = Pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # about forking a multi-threaded process: the other threads are idle
                pid = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            ours.close()
            theirs.close()
            raise
        if pid == 0:
            try:
                for number in STOP_SIGNALS:  # to the whole group, but meant for the parent, which ends its workers
                    signal.signal(number, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                _close_all_but(theirs.fileno())
                gc.freeze()  # collecting inherited objects would copy their pages
                use_one_thread(flushed=True)
                enter()
                _serve(partial(self._share, worker), theirs)
            finally:
                os._exit(0)  # the parent's exit handlers are not ours to run
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._pipes.append(ours)
        return pid


def _close_all_but(descriptor: int) -> None:
    """Close every inherited file except the standard streams and one pipe.

    Pipes of other workers, so that every end closes with the parent; and whatever a thread of the parent had open at
    the fork, such as the pipe on which it waits for a program it started.
    """
    try:
        inherited = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    except OSError:
        inherited = list(range(os.sysconf("SC_OPEN_MAX")))  # may be a billion
    for handle in inherited:
        if handle > 2 and handle != descriptor:
            with suppress(OSError):
                os.close(handle)


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Reply to messages with (result, error, CPU seconds) until the parent is gone."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        result, error = None, None
        try:
            result = work(message)
        except Exception as raised:
            error = raised
        try:
            pipe.send((result, error, time.process_time()))
        except OSError:
            return
        except Exception:  # an error that cannot be pickled is described
            pipe.send((None, RuntimeError(f"{type(error).__name__}: {error}"), time.process_time()))


def _send(pipe: Connection, message: Any) -> None:
    try:
        pipe.send(message)
    except OSError as gone:
        raise WorkerLost from gone


def _receive(pipe: Connection) -> tuple[Any, float]:
    try:
        result, error, seconds = pipe.recv()
    except (EOFError, OSError) as gone:
        raise WorkerLost from gone
    if error is not None:
        raise error
    return result, seconds


def _stop_workers(owner: int, pids: Sequence[int], pipes: Sequence[Connection]) -> None:
    if os.getpid() != owner:  # a fork of the process that owns these workers
        return
    for pipe in pipes:
        pipe.close()
    for pid in pids:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
