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

from alfilter.experiments.runner.job import Event, Job, Outcome, after_loss, pickle_job, run_job, run_pickled_job
from alfilter.experiments.study import Source
from alfilter.experiments.study_file import load

_SAFE_PATH = "PYTHONSAFEPATH"


def run_serially(jobs: Sequence[Job]) -> Iterator[Event]:
    """One job after the other in this process."""
    for number, job in enumerate(jobs):
        yield Event("started", number, "here")
        yield _outcome_event(number, "here", run_job(job))


def run_in_processes(jobs: Sequence[Job], workers: int, source: Source | None = None) -> Iterator[Event]:
    """Jobs in `workers` processes; a process that dies is replaced and its job restarted.

    A job has at most one worker at a time, and a worker's answer is read before its end is noticed: every job ends
    once. source: the study's file, where it has one.
    """
    waiting, attempts = deque(range(len(jobs))), [0] * len(jobs)
    pool: list[_Worker] = []
    names = iter(range(1, 1 << 30))
    try:
        while waiting or pool:
            while len(pool) < workers and sum(w.number is None for w in pool) < len(waiting):
                pool.append(_Worker(str(next(names)), source))
            for worker in [w for w in pool if w.number is None]:
                if not waiting:
                    worker.close()
                    pool.remove(worker)
                    continue
                number = waiting.popleft()
                attempts[number] += 1
                worker.send(number, jobs[number])
                yield Event("started", number, worker.name)
            ready = connection.wait([worker.pipe for worker in pool]) if pool else []
            for worker in [w for w in pool if w.pipe in ready]:
                number, outcome = worker.receive()
                if outcome is not None:
                    yield _outcome_event(number, worker.name, outcome)
                    continue
                pool.remove(worker)
                event = after_loss(number, attempts[number], worker.name, worker.exit_reason())
                if event.kind == "lost":
                    waiting.appendleft(number)
                yield event
    finally:
        for worker in pool:
            worker.terminate()


class _Worker:
    """A process with a pipe to it; a fresh interpreter, as threads and compiled kernels do not survive a fork."""

    def __init__(self, name: str, source: Source | None) -> None:
        context = get_context("spawn")
        self.name = name
        self.number: int | None = None  # of the job it has
        self.pipe: Connection[Any, Any]
        self.pipe, theirs = context.Pipe()
        given = os.environ.get(_SAFE_PATH)
        self.process = context.Process(target=_serve, args=(theirs, source, given), name=f"alfilter-{name}")
        os.environ[_SAFE_PATH] = "1"  # until it is told where modules are, it imports none from the current folder
        try:
            self.process.start()
        finally:
            _put_back(given)
        theirs.close()  # the worker alone holds its end, so that its death is the end of the pipe

    def send(self, number: int, job: Job) -> None:
        data = pickle_job(job)
        self.number = number
        with suppress(OSError):  # it died idle: `receive` finds the pipe's end
            self.pipe.send_bytes(data)

    def receive(self) -> tuple[int, Outcome | None]:
        """The number of the job and its outcome; none when the worker is gone."""
        number, self.number = self.number, None
        assert number is not None
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            return number, None
        return number, outcome

    def exit_reason(self) -> str:
        """How the process ended, as text."""
        self.pipe.close()
        self.process.join()
        code = self.process.exitcode or 0
        return f"killed by signal {-code}" if code < 0 else f"ended with code {code}"

    def close(self) -> None:
        """Let an idle worker end: its pipe ends."""
        self.pipe.close()
        self.process.join()

    def terminate(self) -> None:
        """End a worker in the middle of its job."""
        self.process.terminate()
        self.pipe.close()
        self.process.join()


def _put_back(given: str | None) -> None:
    """Let programs that are started from here look for modules where the user wants them to."""
    del os.environ[_SAFE_PATH]
    if given is not None:
        os.environ[_SAFE_PATH] = given


def _serve(pipe: Connection[Any, Any], source: Source | None, given: str | None) -> None:
    """The loop of a worker: jobs in, outcomes out, until the pipe ends."""
    _put_back(given)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the study's process decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            if source is not None:
                load(source)  # before a job names its functions
            pipe.send(run_pickled_job(pipe.recv_bytes()))


def _end_with_parent() -> None:
    """A study that was killed leaves no worker behind."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _outcome_event(number: int, worker: str, outcome: Outcome) -> Event:
    kind: Any = "failed" if outcome.line is None else "finished"
    return Event(kind, number, worker, outcome.line, outcome.reason)
