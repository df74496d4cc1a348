"""Runs in this process: every job begins once and ends once, in order. Processes: see `test_sweep`."""

from __future__ import annotations

from typing import Any

from alfilter.experiments.runner.job import Job
from alfilter.experiments.runner.local import run_serially
from alfilter.experiments.study import Run


def odd_fails(run: Run, data: str, threads: int) -> dict[str, Any]:
    if run.seed % 2:
        raise ValueError(f"seed {run.seed}")
    return {"metrics": {"seed": float(run.seed)}}


def test_one_after_the_other() -> None:
    events = list(run_serially([Job(Run("a", "-", seed=seed), "", 1, odd_fails) for seed in range(3)]))
    assert [(event.kind, event.number) for event in events] == [
        *(("started", 0), ("finished", 0)),
        *(("started", 1), ("failed", 1)),
        *(("started", 2), ("finished", 2)),
    ]
    assert events[3].reason.startswith("ValueError: seed 1 (")
    assert events[5].line is not None
    assert events[5].line["metrics"] == {"seed": 2.0}
