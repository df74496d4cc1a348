"""Runs in this process: every job begins once and ends once, in order. More of processes: see `test_sweep`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from alfilter.experiments.runner.job import Job
from alfilter.experiments.runner.local import run_in_processes, run_serially
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


def environment(run: Run, data: str, threads: int) -> dict[str, Any]:
    return {"metrics": {"safe": float(os.environ.get("PYTHONSAFEPATH", 0))}}


def test_workers_import_nothing_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even what an interpreter needs to become a worker; programs that a run starts may."""
    for name in ("struct", "pickle", "socket", "tempfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')\n")
    monkeypatch.setattr(sys, "path", [str(Path(entry).resolve()) for entry in sys.path])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    *_, event = run_in_processes([Job(Run("a", "-"), "", 1, environment)], workers=1)
    assert event.line is not None, event.reason
    assert event.line["metrics"] == {"safe": 0.0}
    assert "PYTHONSAFEPATH" not in os.environ
