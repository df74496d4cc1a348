"""Micro-batches in parallel: one per thread, each with single-threaded tensor operations.

Parallelism over micro-batches instead of inside every operation needs one barrier per batch instead of one per
operation, keeps each core in its own cache, and stays fast when other programs use the cores too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TypeVar

import torch

A = TypeVar("A")
R = TypeVar("R")

_WORTH_SHARING = 1 << 21  # numbers: waking a thread takes as long as a pass over half a million of them

_reserved: int | None = None  # the threads that `single_threaded_ops` took from torch's own operations


def workers() -> int:
    """How many micro-batches run at once: torch's number of threads."""
    return torch.get_num_threads() if _reserved is None else _reserved


@contextmanager
def single_threaded_ops() -> Iterator[None]:
    """Inside, all cores work on micro-batches, and the operations between them run on one.

    Those are small (an optimiser's update of a few hundred thousand numbers), and splitting each of them makes every
    one wait for the slower core: harmless on an idle machine, twice a step's time on a busy one.
    """
    global _reserved
    before, _reserved = _reserved, workers()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _reserved = before


def parallel_map(function: Callable[[A], R], items: Sequence[A]) -> list[R]:
    """`[function(item) for item in items]`, on up to `workers()` threads, in order; the first error is raised."""
    if workers() == 1 or len(items) <= 1:
        return [function(item) for item in items]
    return list(_pool(workers()).map(function, items))


def for_slices(function: Callable[[slice], object], count: int, worth_sharing: int | None = None) -> None:
    """`function` of slices that make up [0, count): one per worker, or a single one where waking threads costs more.

    For work of one kind on every number alone, whose result is the same however it is cut. worth_sharing: from how many
    numbers on it is cut.

    >>> for_slices(print, 3)
    slice(0, 3, None)
    """
    parts = workers() if count >= (worth_sharing or _WORTH_SHARING) else 1
    cuts = [count * part // parts for part in range(parts + 1)]
    parallel_map(function, [slice(begin, end) for begin, end in pairwise(cuts)])


def use_one_thread() -> None:
    """Run torch's operations in the calling thread on one core.

    torch keeps that number per thread, but when a thread first asks for it, it is set to what any thread set last.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="alfilter", initializer=use_one_thread)
