"""Pieces of a batch side by side: one thread a piece, each with single-threaded tensor operations.

Splitting by pieces instead of inside every operation needs one barrier a batch instead of one an operation, keeps each
core in its own cache, and stays fast when other programs want the cores too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import torch

A = TypeVar("A")
R = TypeVar("R")


def workers() -> int:
    """How many pieces run at once: torch's number of threads."""
    return torch.get_num_threads()


def side_by_side(function: Callable[[A], R], items: Sequence[A]) -> list[R]:
    """`[function(item) for item in items]`, on up to `workers()` threads, in order; the first error is raised."""
    if workers() == 1 or len(items) <= 1:
        return [function(item) for item in items]
    return list(_pool(workers()).map(function, items))


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    # a thread's share of the cores is one; torch keeps this number per thread
    return ThreadPoolExecutor(count, thread_name_prefix="alfilter", initializer=torch.set_num_threads, initargs=(1,))
