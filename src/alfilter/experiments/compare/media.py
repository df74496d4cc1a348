"""Sound, a volume, a video, a light field: every method in the same time, on all samples and on half of them.

The signals are small parts of files. With samples hidden, every method learns the same filling beside the seen ones;
two rows have no field: `linear` between the neighbours, and the filling itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alfilter.experiments.fitting import fit_line, fit_run
from alfilter.experiments.study import Lines, Run, Study, heldout_psnr, seen_psnr, table

if TYPE_CHECKING:
    from alfilter.tasks import GridTask

SECONDS = 3.0  # of one core
METHODS = ("al-grid", "hash-grid", "siren", "al-sine")
RECONSTRUCT = ("al-grid", "al-sine")  # have a preset for gaps
LINEAR, FILLING = "linear", "filling"
# file: how it is hidden in part
SIGNALS: Mapping[str, str] = {
    "audio/gt_bach.wav": "every:2",
    "volume/mni152_t1.nii.gz": "slices:0:every:2",
    "video/carphone_pristine.mp4": "frames:every:2",
    "lightfield/lightfield_5x5.npz": "views:every:2",
}
# kind: the part of the signal that is fitted
PARTS: Mapping[str, tuple[slice, ...]] = {
    "audio": (slice(0, 88_201),),
    "volume": (slice(60, 125), slice(80, 144), slice(60, 124)),
    "video": (slice(0, 17),),
    "lightfield": (slice(None), slice(None), slice(48, 144), slice(74, 202)),
}


def runs() -> list[Run]:
    """Signal by signal: all samples, then some hidden."""
    rows = []
    budget = {"budget": SECONDS, "clock": "cpu"}
    for image, observe in SIGNALS.items():
        kind = image.partition("/")[0]
        rows += [Run(f"{kind}: {name}", image, name, training=budget) for name in METHODS]
        for name in METHODS:
            preset = "reconstruct" if name in RECONSTRUCT else "default"
            training = {**budget, "fill": 1.0}
            rows.append(Run(f"{kind}: {name}", image, name, preset, observe=observe, training=training))
        rows += [Run(f"{kind}: {name}", image, name, observe=observe) for name in (LINEAR, FILLING)]
    return rows


def open_part(run: Run, data: str) -> GridTask:
    """The task of a run: a part of its signal."""
    from alfilter.signals import GridSignal, open_signal
    from alfilter.tasks import TASKS, GridTask

    signal = open_signal(str(Path(data) / run.image))
    assert isinstance(signal, GridSignal)
    part = np.ascontiguousarray(signal.data[PARTS[signal.kind]])
    small = GridSignal(part, kind=signal.kind, mode=signal.mode, span=(signal.low, signal.high), facts=signal.facts)
    task = TASKS[signal.kind](small, run.observe, run.seed)
    assert isinstance(task, GridTask)
    return task


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """One fit on one core, or values without a field."""
    task = open_part(run, data)
    if run.method not in (LINEAR, FILLING):
        fitted = fit_run(run, task)
        scores = task.evaluate(fitted.field)
        return {**fit_line(run, fitted), "metrics": scores.metrics, "heldout": scores.heldout}
    began = time.monotonic()
    psnr = 10 * np.log10(1 / float(np.mean((hidden_values(run.method, task) - _hidden(task)) ** 2)))
    line = {**run.heading, "steps": 0, "params": 0, "seconds": time.monotonic() - began}
    return {**line, "metrics": {"psnr": None}, "heldout": {"psnr": psnr}}


def hidden_values(name: str, task: GridTask) -> Any:
    """The values (n, c) of the hidden samples without a field."""
    filling = task.filling()
    assert filling is not None
    if name == FILLING:
        return filling.y.double().clamp(0, 1).numpy()
    values, seen = task.target().double().numpy(), _seen(task)
    for axis in reversed(range(values.ndim - 1)):
        values, seen = _linear(values, seen, axis)
    return values.reshape(-1, task.out_dim)[~_seen(task).reshape(-1)]


def _linear(values: Any, seen: Any, axis: int) -> tuple[Any, Any]:
    """Half-way values along an axis whose odd planes are hidden as a whole; others are left."""
    line, mask = np.moveaxis(values.copy(), axis, 0), np.moveaxis(seen.copy(), axis, 0)
    if mask[1::2].any() or not mask[::2].any():
        return values, seen
    after = np.arange(1, len(line), 2) + 1
    line[1::2] = (line[:-1:2] + line[np.minimum(after, len(line) - 1 - (len(line) - 1) % 2)]) / 2
    mask[1::2] = mask[:-1:2]
    return np.moveaxis(line, 0, axis), np.moveaxis(mask, 0, axis)


def _seen(task: GridTask) -> Any:
    mask = task.seen_mask()
    assert mask is not None
    return mask.view(task.signal.shape).numpy()


def _hidden(task: GridTask) -> Any:
    return task.target().double().numpy().reshape(-1, task.out_dim)[~_seen(task).reshape(-1)]


def summarise(lines: Lines) -> str:
    """PSNR with all samples; and with some hidden, on the seen and on the hidden ones."""
    return table(
        lines,
        {
            "all samples, dB": lambda line: seen_psnr(line, "all"),
            "half, seen, dB": lambda line: line["metrics"]["psnr"] if line["observe"] != "all" else None,
            "half, hidden, dB": heldout_psnr,
            "parameters": lambda line: float(line["params"]) or None,
        },
    )


STUDY = Study("media", runs, summarise, execute, threads=1)
