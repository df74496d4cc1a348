"""All runs of a study: here, side by side, or on a cluster; each result written once, even if a worker dies."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from alfilter.errors import UserError
from alfilter.experiments.data import MissingData, missing_files
from alfilter.experiments.fitting import check_run, execute
from alfilter.experiments.runner.job import Event, Job
from alfilter.experiments.runner.ledger import Ledger
from alfilter.experiments.runner.local import run_in_processes, run_serially
from alfilter.experiments.runner.progress import StudyProgress
from alfilter.experiments.runner.ray import run_on_ray
from alfilter.experiments.study import Lines, Run, Study
from alfilter.experiments.unfinished import folder_beside
from alfilter.runtime.limits import cores

RESULTS = "runs/experiments"  # the folder of result lines unless another is named


def run_study(
    study: Study,
    data: str,
    out: str | None,
    workers: int,
    say: Callable[[str], None] = print,
    *,
    threads: int | None = None,
    ray: str | None = None,
    live: bool = False,
) -> Lines:
    """All lines of a study: the finished ones from its folder, the others computed, each written as it ends.

    workers: runs side by side; 1 stays in this process. threads: of one run; without it one, or all cores where runs
    come one after the other. A result depends on the threads in its last digits and on nothing else here. ray: the
    address of a Ray cluster, or `local`. live: a table on the terminal instead of plain lines alone.
    """
    if workers < 1 or (threads is not None and threads < 1):
        raise UserError(f"workers and threads must be at least 1, got {workers} and {threads}")
    runs = study.runs_in(data)
    check_runs(study, runs, data)
    alone = workers == 1 and ray is None
    threads = study.threads or threads or (cores() if alone else 1)
    with Ledger(Path(out or RESULTS) / f"{study.name}.jsonl") as ledger:
        missing = [run for name, run in {run.name: run for run in runs}.items() if name not in ledger.lines]
        say(f"{study.name}: {len(runs)} runs, {len(runs) - len(missing)} finished already")
        folder, action = Path(data).resolve(), study.execute or execute
        unfinished = folder_beside(ledger.path)
        state = str(unfinished) if ray is None else None  # of this machine alone
        jobs = [Job(run, str(folder), threads, action, unfinished=state) for run in missing]
        reasons: list[str] = []
        with StudyProgress(study.name, missing, say, live) as progress:
            for event in _events(jobs, workers, ray, study):
                if event.kind == "finished" and event.line is not None:
                    ledger.add(event.line)
                elif event.kind == "failed":
                    reasons.append(event.reason)
                progress.note(event)
        if reasons:
            raise UserError(
                f"{len(reasons)} of {len(runs)} runs failed, the first: {reasons[0]}; "
                "the others are kept, and the same command repeats only these"
            )
        shutil.rmtree(unfinished, ignore_errors=True)  # with what is left of fits whose settings were changed since
        return [ledger.lines[run.name] for run in runs]


def check_runs(study: Study, runs: Sequence[Run], data: str) -> None:
    """Before the first run starts: its files are there, and what `execute` will be asked for exists.

    A study with an `execute` of its own decides what a run's words mean.
    """
    if study.execute is None or study.source is None:
        missing = missing_files([run.image for run in runs], data)
        if missing:
            raise MissingData(data, missing)
    if study.execute is None:
        for run in runs:
            check_run(run)


def _events(jobs: Sequence[Job], workers: int, ray: str | None, study: Study) -> Iterator[Event]:
    """What happens to the jobs, wherever they are carried out."""
    if not jobs:
        return iter(())
    if ray is not None:
        return run_on_ray(jobs, ray, workers, study.source)
    return run_serially(jobs) if workers == 1 else run_in_processes(jobs, workers, study.source)
