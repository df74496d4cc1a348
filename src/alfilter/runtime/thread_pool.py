"""Pieces of a batch side by side: one thread a piece, each with single-threaded tensor operations.

Splitting by pieces instead of inside every operation needs one barrier a batch instead of one an operation, keeps each
core in its own cache, and stays fast when other programs want the cores too.
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

_WORTH_SHARING = 1 << 21  # numbers: waking a thread takes as long as one passes over half a million of them

_claimed: int | None = None  # the threads `pieces_only` took from torch's own operations


def workers() -> int:
    """How many pieces run at once: torch's number of threads."""
    return torch.get_num_threads() if _claimed is None else _claimed


@contextmanager
def pieces_only() -> Iterator[None]:
    """Inside, all cores work on pieces, and the operations between them run on one.

    Those are small (an optimiser's update of a few hundred thousand numbers), and splitting each of them makes every
    one wait for the slower core: harmless on an idle machine, twice a step's time on a busy one.
    """
    global _claimed
    before, _claimed = _claimed, workers()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _claimed = before


def side_by_side(function: Callable[[A], R], items: Sequence[A]) -> list[R]:
    """`[function(item) for item in items]`, on up to `workers()` threads, in order; the first error is raised."""
    if workers() == 1 or len(items) <= 1:
        return [function(item) for item in items]
    return list(_pool(workers()).map(function, items))


def in_slices(function: Callable[[slice], object], count: int) -> None:
    """`function` of slices that make up [0, count): one a worker, or a single one where waking threads would cost more.

    For work of one kind on every number alone, whose result is the same however it is cut.

    >>> in_slices(print, 3)
    slice(0, 3, None)
    """
    parts = workers() if count >= _WORTH_SHARING else 1
    cuts = [count * part // parts for part in range(parts + 1)]
    side_by_side(function, [slice(begin, end) for begin, end in pairwise(cuts)])


def take_one_core() -> None:
    """Let torch's operations in this thread run on one core.

    torch keeps that number per thread, but when a thread first asks for it, it is set to what any thread set last.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="alfilter", initializer=take_one_core)
