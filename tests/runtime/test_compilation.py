"""Work is prepared once per kind, and what it calls is recorded, not run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from alfilter.kernels import cache, dispatch
from alfilter.kernels.dispatch import load_kernels
from alfilter.runtime import compilation
from alfilter.runtime.compilation import compile_once, kernel_calls_of


def test_a_recorded_kernel_does_not_run() -> None:
    arrays = [np.ones(4, np.float32) for _ in range(4)]
    calls = kernel_calls_of(lambda: load_kernels("adam").adam_update(*arrays, *[np.float32(0.5)] * 7))
    assert len(calls) == 1
    assert all((array == 1).all() for array in arrays)


def test_a_kind_of_work_is_prepared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    asked = []
    for kind in ("one", "other", "one"):
        compile_once(kind, lambda kind=kind: asked.append(kind) or [])  # type: ignore[misc]
    assert asked == ["one", "other"]


def test_without_numba_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "kernels_available", lambda: False)
    monkeypatch.setattr(dispatch, "_module", pytest.fail)
    compile_once("any", lambda: pytest.fail("nothing to record"))


def test_what_the_first_kernel_loads_is_there_before_the_clock_runs() -> None:
    """In a fresh process: nothing of numba is left to be imported."""
    program = (
        "import sys\n"
        "from alfilter.kernels import cache\n"
        "cache.cache_folder = lambda: None\n"
        "from alfilter.runtime.compilation import compile_once\n"
        "compile_once('any', lambda: [])\n"
        "before = set(sys.modules)\n"
        "from numba.core.registry import cpu_target\n"
        "cpu_target.target_context.refresh()\n"
        "print(len(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0"
