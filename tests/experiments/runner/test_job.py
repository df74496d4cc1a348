"""One run as something that travels: what comes back, and what goes wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from alfilter import __version__
from alfilter.errors import UserError
from alfilter.experiments.runner.job import ATTEMPTS, Job, after_loss, pickle_job, run_job, run_pickled_job
from alfilter.experiments.study import Run


def measured(run: Run, data: str, threads: int) -> dict[str, Any]:
    if run.group == "mistake":
        raise UserError("give\nanother")
    if run.group == "bug":
        raise KeyError("no such thing")
    return {"metrics": {"value": float(run.seed)}, "data": data}


def job(group: str = "a") -> Job:
    return Job(Run(group, "-", seed=4), "folder", 2, measured)


def test_a_line_holds_the_run_and_what_it_returned() -> None:
    line = run_job(job()).line
    assert line is not None
    assert line["metrics"] == {"value": 4.0}
    assert (line["group"], line["seed"], line["threads"], line["data"]) == ("a", 4, 2, "folder")
    assert (line["version"], line["heldout"], line["name"]) == (__version__, None, job().run.name)
    assert line["seconds"] >= 0
    assert line["peak_memory"] > 1 << 20


def test_a_job_is_the_same_after_its_journey() -> None:
    near, far = run_job(job()).line, run_pickled_job(pickle_job(job())).line
    assert near is not None
    assert far is not None
    volatile = ("seconds", "peak_memory")
    assert {k: v for k, v in near.items() if k not in volatile} == {k: v for k, v in far.items() if k not in volatile}


def counted(run: Run, data: str, threads: int) -> dict[str, Any]:
    return {"metrics": {"threads": torch.get_num_threads()}, "steps": 0}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_computes_on_as_many_threads_as_its_job_has(threads: int) -> None:
    before = torch.get_num_threads()
    line = run_job(replace(job(), threads=threads, execute=counted)).line
    assert line is not None
    assert torch.get_num_threads() == before
    assert line["threads"] == line["metrics"]["threads"] == threads


def test_errors_become_reasons() -> None:
    assert run_job(job("mistake")).reason == "give another"
    assert run_job(job("bug")).reason.startswith("KeyError: 'no such thing' (")
    other = run_job(replace(job(), version="0.0.0"))
    assert other.line is None
    assert other.reason == f"the worker has alfilter {__version__}, the study 0.0.0; install the same"


def test_what_cannot_travel_is_refused() -> None:
    with pytest.raises(UserError, match="must be a function at the top of its file to be sent to workers"):
        pickle_job(replace(job(), execute=lambda run, data, threads: {}))


def test_a_lost_worker_costs_an_attempt() -> None:
    again, last = after_loss(7, 1, "w", "killed"), after_loss(7, ATTEMPTS, "w", "killed")
    assert (again.kind, again.number, again.reason) == ("lost", 7, "killed")
    assert last.kind == "failed"
    assert last.reason == "its worker was lost 3 times (killed); fewer workers leave each more memory"
