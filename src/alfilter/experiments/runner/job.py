"""One run as something that can be sent to a worker, and what comes back."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from alfilter import __version__
from alfilter.errors import UserError
from alfilter.experiments.study import Run
from alfilter.runtime.memory import peak_memory, reset_peak_memory

ATTEMPTS = 3  # times a run is begun before it counts as failed


@dataclass(frozen=True)
class Job:
    """A run, where its data is, how many threads it may use, and the function that carries it out."""

    run: Run
    data: str
    threads: int
    carry_out: Callable[[Run, str, int], dict[str, Any]]
    version: str = __version__


@dataclass(frozen=True)
class Outcome:
    """A result line, or why there is none."""

    line: dict[str, Any] | None
    reason: str = ""


@dataclass(frozen=True)
class Event:
    """What happened to the job of that number: it was given to a worker, ended, lost its worker, or failed for good."""

    kind: Literal["started", "finished", "lost", "failed"]
    number: int
    worker: str = ""
    line: dict[str, Any] | None = None
    reason: str = ""


def packed(job: Job) -> bytes:
    """A job as it travels to a worker; functions go by the name of their module (see `declared.load`)."""
    try:
        return pickle.dumps(job)
    except Exception as error:
        raise UserError(
            f"a study's execute must be a function at the top of its file to be sent to workers ({error}); "
            "move it there, or give --workers 1"
        ) from error


def attempt_packed(data: bytes) -> Outcome:
    """`attempt` for a job that `packed` made in the study's own process."""
    job: Job = pickle.loads(data)
    return attempt(job)


def attempt(job: Job) -> Outcome:
    """Carry out a job; an error becomes its reason, so that the other runs of a study go on."""
    try:
        if job.version != __version__:
            raise UserError(f"the worker has alfilter {__version__}, the study {job.version}; install the same")
        return Outcome(perform(job))
    except UserError as error:
        return Outcome(None, " ".join(str(error).split()))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(None, f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})")


def perform(job: Job) -> dict[str, Any]:
    """The result line of a job: what its function returns, and what every line holds.

    peak_memory: bytes, of the whole process while the run went.
    """
    reset_peak_memory()
    began = time.monotonic()
    line = job.carry_out(job.run, job.data, job.threads)
    facts = {**asdict(job.run), "version": __version__, "seconds": time.monotonic() - began, "heldout": None}
    return {**facts, **line, "name": job.run.name, "threads": job.threads, "peak_memory": peak_memory()}


def after_loss(number: int, attempts: int, worker: str, reason: str) -> Event:
    """What a lost worker means for its job: it is done again, or it has had its chances."""
    if attempts < ATTEMPTS:
        return Event("lost", number, worker, reason=reason)
    told = f"its worker was lost {attempts} times ({reason}); fewer workers leave each more memory"
    return Event("failed", number, worker, reason=told)
