"""The same work at several positions at once, by processes that are doubles of this one where the system can fork.

Python threads take turns in the interpreter, and every tensor operation ends one turn and waits for the next. Beside
operations of milliseconds that is nothing; a step of a small network on a few thousand samples lost a third of its
time to it on two cores, and more cores would only have waited more. A forked process has an interpreter of its own and
everything this one had; what is to be seen by all must lie in memory from `shared`.
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.runtime.thread_pool import take_one_core

M = TypeVar("M")
R = TypeVar("R")

_elsewhere = 0.0  # seconds that helping processes were given on the cores so far


def seconds_on_cores() -> float:
    """What this process and its helpers were given on the cores."""
    return time.process_time() + _elsewhere


def can_fork() -> bool:
    """Whether helpers may be processes: on Linux, unless a GPU's driver, which a fork breaks, is in use here.

    macOS has the call, but its own libraries do not survive it.
    """
    return sys.platform.startswith("linux") and not torch.cuda.is_available()


def shared(tensor: Tensor) -> Tensor:
    """A copy of a CPU tensor in memory that processes forked from now on share with this one.

    >>> shared(torch.arange(3.0))
    tensor([0., 1., 2.])
    """
    if tensor.numel() == 0:
        return tensor.clone()
    room = mmap.mmap(-1, tensor.numel() * tensor.element_size())
    there = torch.frombuffer(room, dtype=tensor.dtype, count=tensor.numel()).view(tensor.shape)
    return there.copy_(tensor)


class Crew(Generic[M, R]):
    """`work(position, message)` at the positions 0, 1, …, of which 0 is done by whoever asks.

    work: what all do. Helpers know its variables as they were when the crew was made. size: of positions. enter: called
    once in every helper that is a process. forked: whether helpers are processes, not threads; None asks `can_fork`.

    >>> with Crew(lambda position, message: position + message, 2, forked=False) as crew:
    ...     crew.run(10)
    [10, 11]
    """

    def __init__(
        self,
        work: Callable[[int, M], R],
        size: int,
        enter: Callable[[], object] = lambda: None,
        forked: bool | None = None,
    ) -> None:
        self.work, self.size = work, size
        self._seconds: list[float] = [0.0] * (size - 1)
        self._threads: ThreadPoolExecutor | None = None
        self._pipes: list[Connection] = []
        ids: list[int] = []
        self._end = weakref.finalize(self, _dismiss, os.getpid(), ids, self._pipes)
        if size > 1 and (can_fork() if forked is None else forked):
            with suppress(OSError):  # no more processes are allowed, or no memory for them: threads then
                for position in range(1, size):
                    ids.append(self._fork(position, enter))
        if len(ids) < size - 1:
            _dismiss(os.getpid(), ids, self._pipes)
            self._pipes.clear()
            ids.clear()
            self._threads = ThreadPoolExecutor(size - 1, thread_name_prefix="alfilter", initializer=take_one_core)

    def __enter__(self) -> Crew[M, R]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, message: M) -> list[R]:
        """The results of all positions, in order; the first error is raised, and ends the crew."""
        global _elsewhere
        try:
            for pipe in self._pipes:
                pipe.send(message)
            coming = [self._threads.submit(self.work, i, message) for i in range(1, self.size)] if self._threads else []
            found = [self.work(0, message), *(future.result() for future in coming)]
            for helper, pipe in enumerate(self._pipes):
                result, seconds = _answer(pipe)
                _elsewhere += seconds - self._seconds[helper]
                self._seconds[helper] = seconds
                found.append(result)
        except BaseException:
            self.close()  # a helper may still be at work, and its answer would be taken for the next one's
            raise
        return found

    def close(self) -> None:
        """Send the helpers home."""
        self._end()
        if self._threads is not None:
            self._threads.shutdown()

    def _fork(self, position: int, enter: Callable[[], object]) -> int:
        mine, theirs = Pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: ours are idle
                process = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            mine.close()
            theirs.close()
            raise
        if process == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asks
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                _close_all_but(theirs.fileno())
                gc.freeze()  # collecting what was there would copy it
                torch.set_num_threads(1)
                enter()
                _serve(self.work, position, theirs)
            finally:
                os._exit(0)  # nothing of what is registered here is this process's to do
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._pipes.append(mine)
        return process


def _close_all_but(kept: int) -> None:
    """Close every file but the standard ones and one more.

    Other helpers' pipes, so that all ends are gone when the one who asks is; and whatever a thread of the parent had
    open just then, such as the pipe on which it waits for a program it starts: nobody may hold that but the two.
    """
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _serve(work: Callable[[int, Any], Any], position: int, pipe: Connection) -> None:
    """Answer messages with (result, error, seconds on the cores) until nobody is there to ask."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        result, error = None, None
        try:
            result = work(position, message)
        except Exception as raised:
            error = raised
        try:
            pipe.send((result, error, time.process_time()))
        except OSError:
            return
        except Exception:  # an error that cannot be sent is told
            pipe.send((None, RuntimeError(f"{type(error).__name__}: {error}"), time.process_time()))


def _answer(pipe: Connection) -> tuple[Any, float]:
    try:
        result, error, seconds = pipe.recv()
    except (EOFError, OSError) as gone:
        raise UserError(
            "a helping process of this fit ended unasked (out of memory?); "
            "a run continues with --resume, with fewer --threads it needs less"
        ) from gone
    if error is not None:
        raise error
    return result, seconds


def _dismiss(home: int, processes: Sequence[int], pipes: Sequence[Connection]) -> None:
    if os.getpid() != home:  # a double of the one whose helpers these are
        return
    for pipe in pipes:
        pipe.close()
    for process in processes:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
