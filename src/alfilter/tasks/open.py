"""From a path or `sample:NAME` to a task, by the kind of the signal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from alfilter.errors import UserError
from alfilter.signals import open_signal
from alfilter.signals.tables import is_table
from alfilter.tasks.base import Task
from alfilter.tasks.grid import GridTask
from alfilter.tasks.media import AudioTask, ImageTask, LightFieldTask, VideoTask, VolumeTask
from alfilter.tasks.points import PointTask
from alfilter.tasks.sdf import SdfTask

# columns of coordinates, values, weights, standard deviations
Named = tuple[Sequence[str], Sequence[str], str | None, str | None]
Say = Callable[[str], None]

# signal.kind: its task, made of the signal, what is observed, and the seed
TASKS: dict[str, Callable[[Any, str, int], Task]] = {
    "image": ImageTask,
    "audio": AudioTask,
    "volume": VolumeTask,
    "video": VideoTask,
    "lightfield": LightFieldTask,
    "shape": SdfTask,
}


def open_task(
    spec: str,
    observe: str = "all",
    seed: int = 0,
    *,
    columns: Named = ((), (), None, None),
    say: Say = lambda line: None,
) -> Task:
    """The task of a file or a `sample:NAME`: of a table with named columns, or of what the file's content says it is.

    say: called with short lines about what the file holds and what was done about it.

    >>> open_task("sample:camera").in_dim
    2
    """
    if any(columns) or is_table(spec):
        return open_points(spec, columns, observe, seed, say)
    signal = open_signal(spec, say)
    if signal.kind not in TASKS:
        raise UserError(f"{spec} holds {signal.kind}, which cannot be fitted; known: {', '.join(TASKS)}")
    task = TASKS[signal.kind](signal, observe, seed)
    if isinstance(task, GridTask) and observe != "all" and task.seen is None:
        raise UserError(f"observe={observe} sees every sample, so nothing is held out; say all", arguments=["observe"])
    if isinstance(task, SdfTask) and task.signal.diagnosis is not None:
        for finding in task.signal.diagnosis.lines():
            say(finding)
    return task


def open_points(path: str, columns: Named, observe: str, seed: int, say: Say) -> PointTask:
    """The task of a table's columns; what was dropped or averaged is reported."""
    coords, values, weight, noise = columns
    task = PointTask.from_file(path, coords, values, weight, observe, seed, noise)
    if task.signal.dropped:
        say(f"{task.signal.dropped} of {task.signal.rows} rows lack a value and were dropped")
    if task.signal.merged:
        say(f"{task.signal.merged} rows repeat a place; the measurements of a place were averaged")
    return task
