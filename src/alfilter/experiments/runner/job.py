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
from alfilter.experiments.unfinished import kept_in
from alfilter.runtime.memory import peak_memory, reset_peak_memory

ATTEMPTS = 3  # times a run is started before it counts as failed


@dataclass(frozen=True)
class Job:
    """A run, where its data is, how many threads it may use, and the function that executes it.

    unfinished: a folder for the state of a fit that is stopped.
    """

    run: Run
    data: str
    threads: int
    execute: Callable[[Run, str, int], dict[str, Any]]
    version: str = __version__
    unfinished: str | None = None


@dataclass(frozen=True)
class Outcome:
    """A result line, or why there is none."""

    line: dict[str, Any] | None
    reason: str = ""


@dataclass(frozen=True)
class Event:
    """What happened to the job of that number: a worker began it, ended it, was lost, or the job failed for good."""

    kind: Literal["started", "finished", "lost", "failed"]
    number: int
    worker: str = ""
    line: dict[str, Any] | None = None
    reason: str = ""


def pickle_job(job: Job) -> bytes:
    """A job as it travels to a worker; functions go by the name of their module (see `study_file.load`)."""
    try:
        return pickle.dumps(job)
    except Exception as error:
        raise UserError(
            f"a study's execute must be a function at the top of its file to be sent to workers ({error}); "
            "move it there, or run it with one worker"
        ) from error


def run_pickled_job(data: bytes) -> Outcome:
    """`run_job` for a job that `pickle_job` made in the study's own process."""
    job: Job = pickle.loads(data)
    return run_job(job)


def run_job(job: Job) -> Outcome:
    """Execute a job; an error becomes its reason, so that the other runs of a study continue."""
    try:
        if job.version != __version__:
            raise UserError(f"the worker has alfilter {__version__}, the study {job.version}; install the same")
        return Outcome(result_line(job))
    except UserError as error:
        return Outcome(None, " ".join(str(error).split()))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(None, f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})")


def result_line(job: Job) -> dict[str, Any]:
    """The result line of a job: what its function returns, and what every line holds.

    peak_memory: bytes, of the whole process during the run.
    """
    import torch

    before = torch.get_num_threads()
    reset_peak_memory()
    began = time.monotonic()
    try:
        torch.set_num_threads(job.threads)
        with kept_in(job.unfinished):
            line = job.execute(job.run, job.data, job.threads)
    finally:
        torch.set_num_threads(before)
    facts = {**asdict(job.run), "version": __version__, "seconds": time.monotonic() - began, "heldout": None}
    return {**facts, **line, "name": job.run.name, "threads": job.threads, "peak_memory": peak_memory()}


def after_loss(number: int, attempts: int, worker: str, reason: str) -> Event:
    """What a lost worker means for its job: it is repeated, or it fails after the last attempt."""
    if attempts < ATTEMPTS:
        return Event("lost", number, worker, reason=reason)
    why = f"its worker was lost {attempts} times ({reason}); fewer workers leave each more memory"
    return Event("failed", number, worker, reason=why)
