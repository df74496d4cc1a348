"""Sound, a volume, a video, a light field: every method in the same time, on all samples and on half of them.

The signals are small parts of files. With samples hidden, every method learns the same filling beside the seen ones;
two rows have no field: `linear` between the neighbours, and the filling itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alfilter.experiments.fitting import fit_line, fit_run
from alfilter.experiments.study import Lines, Run, Study, heldout_psnr, seen_psnr, table

if TYPE_CHECKING:
    from alfilter.methods import Field
    from alfilter.tasks import GridTask

SECONDS = 3.0  # of one core
METHODS = ("al-grid", "hash-grid", "siren", "al-sine")
GRIDS, SEEDS = ("al-grid", "hash-grid"), (0, 1, 2)  # they are close to one another: one seed would not tell
RECONSTRUCT = ("al-grid", "al-sine")  # have a preset for gaps
LINEAR, FILLING = "linear", "filling"
_ALL = slice(None)
# file, and which part of it: the part itself, and how it is hidden in part
SIGNALS: Mapping[str, tuple[str, tuple[slice, ...]]] = {
    "audio/gt_bach.wav": ("every:2", (slice(0, 88_201),)),
    "audio/gt_bach.wav#2": ("every:2", (slice(88_200, 176_401),)),
    "volume/mni152_t1.nii.gz": ("slices:0:every:2", (slice(60, 125), slice(80, 144), slice(60, 124))),
    "volume/mni152_t1.nii.gz#2": ("slices:0:every:2", (slice(90, 155), slice(40, 104), slice(70, 134))),
    "video/carphone_pristine.mp4": ("frames:every:2", (slice(0, 17),)),
    "video/bikes.mp4": ("frames:every:2", (slice(0, 17), slice(64, 208), slice(200, 376))),
    "lightfield/lightfield_5x5.npz": ("views:every:2", (_ALL, _ALL, slice(48, 144), slice(74, 202))),
    "lightfield/lightfield_5x5.npz#2": ("views:every:2", (_ALL, _ALL, slice(0, 96), slice(0, 128))),
}
BLOCK = 8  # pixels of a slice, frame or view whose local band is compared with α


def runs() -> list[Run]:
    """Signal by signal: all samples, then some hidden."""
    rows = []
    budget = {"budget": SECONDS, "clock": "cpu"}
    seeded = [(name, 0) for name in METHODS] + [(name, seed) for seed in SEEDS[1:] for name in GRIDS]
    for image, (observe, _) in SIGNALS.items():
        kind = image.partition("/")[0]
        rows += [Run(f"{kind}: {name}", image, name, seed=seed, training=budget) for name, seed in seeded]
        for name, seed in seeded:
            preset = "reconstruct" if name in RECONSTRUCT else "default"
            training = {**budget, "fill": 1.0}
            rows.append(Run(f"{kind}: {name}", image, name, preset, None, observe, seed, training=training))
        rows += [Run(f"{kind}: {name}", image, name, observe=observe) for name in (LINEAR, FILLING)]
    return rows


def open_part(run: Run, data: str) -> GridTask:
    """The task of a run: a part of its signal."""
    from alfilter.signals import GridSignal, open_signal
    from alfilter.tasks import TASKS, GridTask

    signal = open_signal(str(Path(data) / run.image.partition("#")[0]))
    assert isinstance(signal, GridSignal)
    part = np.ascontiguousarray(signal.data[SIGNALS[run.image][1]])
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
        metrics = {**scores.metrics, "rho": local_rho(fitted.field, task)}
        return {**fit_line(run, fitted), "metrics": metrics, "heldout": scores.heldout}
    began = time.monotonic()
    psnr = 10 * np.log10(1 / float(np.mean((hidden_values(run.method, task) - _hidden(task)) ** 2)))
    line = {**run.heading, "steps": 0, "params": 0, "seconds": time.monotonic() - began}
    return {**line, "metrics": {"psnr": None}, "heldout": {"psnr": psnr}}


def local_rho(field: Field, task: GridTask) -> float | None:
    """Spearman's ρ of the cut-off with the local band of all slices, frames or views together, over blocks of 8×8.

    None without a filter or planes, or where α is the same everywhere.
    """
    import torch

    from alfilter.analysis.frequency import filtered_encoding_of, frequency_map
    from alfilter.analysis.spectrum import ranks
    from alfilter.analysis.structure import block_means, local_band

    encoding, shape = filtered_encoding_of(field), task.signal.shape
    if encoding is None or len(shape) < 2:
        return None
    with torch.no_grad():
        cut_offs = frequency_map(encoding, shape).log().view(-1, *shape[-2:])
        planes = task.target().mean(-1).view(-1, *shape[-2:])
        maps = [torch.stack([block_means(plane, BLOCK) for plane in cut_offs]),
                torch.stack([local_band(plane, BLOCK) for plane in planes])]  # fmt: skip
        rho = float(torch.corrcoef(torch.stack([ranks(each.flatten()) for each in maps]))[0, 1])
        return None if math.isnan(rho) else rho


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
            "ρ with the local band": lambda line: line["metrics"].get("rho") if line["observe"] == "all" else None,
            "parameters": lambda line: float(line["params"]) or None,
        },
    )


STUDY = Study("media", runs, summarise, execute, threads=1)
