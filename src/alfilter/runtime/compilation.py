"""Compile the kernels of some work before it starts, on all cores at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from alfilter.kernels.dispatch import kernels_available, load_kernels, recorded_calls
from alfilter.runtime.stages import stage
from alfilter.runtime.thread_pool import workers

if TYPE_CHECKING:
    from alfilter.kernels.dispatch import Call as Call


def compile_once(kind: str, calls: Callable[[], list[Call]]) -> None:
    """Have all kernels of some work in the cache, compiled on all cores at once if they are not there, and what reads
    them from there in memory.

    kind: what determines the calls. That work of this kind was prepared is noted in the cache's folder; then `calls`,
    which says what the work calls (see `kernel_calls_of`), is not even run.
    """
    if not kernels_available():
        return
    _load_compiler()
    folder = load_kernels("cache").cache_folder()
    note = None if folder is None else folder / f"prepared-{hashlib.sha256(kind.encode()).hexdigest()[:24]}"
    if note is not None and note.exists():
        return
    with stage("compiling kernels for this processor, once"), load_kernels("compile").Compilers(workers()) as compilers:
        compilers.compile(calls())
    if note is not None:
        with suppress(OSError):
            note.touch()


def kernel_calls_of(work: Callable[[], object]) -> list[Call]:
    """What `work` calls: kernels are recorded instead of run, so what it computes is meaningless."""
    with recorded_calls() as calls:
        work()
    return calls


def _load_compiler() -> None:
    """What the first kernel of a process loads, half a second of it: not while a clock runs."""
    from numba.core.registry import cpu_target

    context: Any = cpu_target.target_context
    context.refresh()
