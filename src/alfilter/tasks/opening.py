"""From a user's word to a task: the kind of the signal decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alfilter.errors import UserError
from alfilter.signals import open_signal
from alfilter.tasks.base import Task
from alfilter.tasks.fit import ImageTask
from alfilter.tasks.sdf import SdfTask

# signal.kind: its task, made of the signal, what is observed, and the seed
TASKS: dict[str, Callable[[Any, str, int], Task]] = {"image": ImageTask, "shape": SdfTask}


def open_task(spec: str, observe: str = "all", seed: int = 0) -> Task:
    """The task of a file or a `sample:NAME`.

    >>> open_task("sample:camera").in_dim
    2
    """
    signal = open_signal(spec)
    if signal.kind not in TASKS:
        raise UserError(f"{spec} holds {signal.kind}, which cannot be fitted; known: {', '.join(TASKS)}")
    return TASKS[signal.kind](signal, observe, seed)
