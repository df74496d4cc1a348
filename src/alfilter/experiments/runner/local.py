"""Runs on this machine: in this process, or side by side in processes that may die."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

from alfilter.experiments.runner.job import Event, Job, Outcome, after_loss, attempt, attempt_packed, packed
from alfilter.experiments.study import Source
from alfilter.experiments.study_file import load


def here(jobs: Sequence[Job]) -> Iterator[Event]:
    """One job after the other in this process."""
    for number, job in enumerate(jobs):
        yield Event("started", number, "here")
        yield _ended(number, "here", attempt(job))


def side_by_side(jobs: Sequence[Job], workers: int, source: Source | None = None) -> Iterator[Event]:
    """Jobs in `workers` processes; a process that dies is replaced and its job begun again.

    A job has at most one worker at a time, and a worker's answer is read before its end is noticed: every job ends
    once. source: the study's file, where it has one.
    """
    waiting, attempts = deque(range(len(jobs))), [0] * len(jobs)
    crew: list[_Worker] = []
    names = iter(range(1, 1 << 30))
    try:
        while waiting or crew:
            while len(crew) < workers and sum(w.number is None for w in crew) < len(waiting):
                crew.append(_Worker(str(next(names)), source))
            for worker in [w for w in crew if w.number is None]:
                if not waiting:
                    worker.dismiss()
                    crew.remove(worker)
                    continue
                number = waiting.popleft()
                attempts[number] += 1
                worker.give(number, jobs[number])
                yield Event("started", number, worker.name)
            ready = connection.wait([worker.pipe for worker in crew]) if crew else []
            for worker in [w for w in crew if w.pipe in ready]:
                number, outcome = worker.take()
                if outcome is not None:
                    yield _ended(number, worker.name, outcome)
                    continue
                crew.remove(worker)
                event = after_loss(number, attempts[number], worker.name, worker.ending())
                if event.kind == "lost":
                    waiting.appendleft(number)
                yield event
    finally:
        for worker in crew:
            worker.end()


class _Worker:
    """A process with a pipe to it; a fresh interpreter, as threads and compiled kernels do not survive a fork."""

    def __init__(self, name: str, source: Source | None) -> None:
        context = get_context("spawn")
        self.name = name
        self.number: int | None = None  # of the job it has
        self.pipe: Connection[Any, Any]
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, source), name=f"alfilter-{name}")
        self.process.start()
        theirs.close()  # the worker alone holds its end, so that its death is the end of the pipe

    def give(self, number: int, job: Job) -> None:
        data = packed(job)
        self.number = number
        with suppress(OSError):  # it died idle: `take` finds the pipe's end
            self.pipe.send_bytes(data)

    def take(self) -> tuple[int, Outcome | None]:
        """The number of the job and its outcome; none when the worker is gone."""
        number, self.number = self.number, None
        assert number is not None
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            return number, None
        return number, outcome

    def ending(self) -> str:
        """How the process ended, in words."""
        self.pipe.close()
        self.process.join()
        code = self.process.exitcode or 0
        return f"killed by signal {-code}" if code < 0 else f"ended with code {code}"

    def dismiss(self) -> None:
        """Let an idle worker end: its pipe ends."""
        self.pipe.close()
        self.process.join()

    def end(self) -> None:
        """End a worker in the middle of its job."""
        self.process.terminate()
        self.pipe.close()
        self.process.join()


def _serve(pipe: Connection[Any, Any], source: Source | None) -> None:
    """The life of a worker: jobs in, outcomes out, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the study's process decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            if source is not None:
                load(source)  # before a job names its functions
            pipe.send(attempt_packed(pipe.recv_bytes()))


def _end_with_parent() -> None:
    """A study that was killed leaves no worker behind."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ended(number: int, worker: str, outcome: Outcome) -> Event:
    kind: Any = "failed" if outcome.line is None else "finished"
    return Event(kind, number, worker, outcome.line, outcome.reason)
