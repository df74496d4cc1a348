"""Noisy measurements: what a local cut-off is worth against smoothing splines and a Gaussian process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from alfilter.experiments.compare.between import terrain
from alfilter.experiments.compare.interpolators import Array, gaussian_process
from alfilter.experiments.study import Lines, Run, Study, table

if TYPE_CHECKING:
    from alfilter.tasks import PointTask

COUNT = 1024  # points of the signals over one coordinate
RATIO = 7.0  # their standard deviation, in those of the noise, as Donoho and Johnstone have it
METRES = 20.0  # standard deviation of the noise on the terrain
SEEDS = (1,)  # the settings were found with 0
SIGNALS = ("blocks", "bumps", "heavisine", "doppler", "terrain 10 %")
SMOOTHING = (0.0, 1e-2, 1e-1, 1.0, 10.0)

_JUMPS = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
_HEIGHTS = np.array([4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
_PEAKS = np.array([4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
_WIDTHS = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])

# preset, options, training of al-grid
OURS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "al-grid, noisy": ("noisy", {}, {}),
    "al-grid, noisy, α the same everywhere": ("noisy", {"grid": 1}, {}),
    "al-grid, noisy, no price": ("noisy", {}, {"parsimony": 0.0}),
    "al-grid, reconstruct": ("reconstruct", {}, {}),
}
OTHERS = ("smoothing splines", "Gaussian process")


def truth(name: str, t: Array) -> Array:
    """Donoho and Johnstone's signals (1994) over t in (0, 1).

    >>> truth("heavisine", np.array([0.5])).round(6).tolist()
    [-2.0]
    """
    if name == "blocks":
        return np.asarray(_HEIGHTS @ (1 + np.sign(t - _JUMPS[:, None])) / 2)
    if name == "bumps":
        return np.asarray(_PEAKS @ (1 + np.abs((t - _JUMPS[:, None]) / _WIDTHS[:, None])) ** -4)
    if name == "heavisine":
        return np.asarray(4 * np.sin(4 * np.pi * t) - np.sign(t - 0.3) - np.sign(0.72 - t))
    return np.asarray(np.sqrt(t * (1 - t)) * np.sin(2 * np.pi * 1.05 / (t + 0.05)))


def problem(name: str, seed: int) -> tuple[PointTask, Array, float]:
    """A task of noisy points, the truth (n, 1) at all of its points, and the noise's standard deviation."""
    from alfilter.signals import PointSignal
    from alfilter.tasks import PointTask

    draw = np.random.default_rng(seed)
    if "terrain" not in name:
        t = (np.arange(COUNT) + 0.5) / COUNT
        clean = truth(name, t)[:, None]
        clean *= RATIO / clean.std()
        return PointTask(PointSignal(t[:, None], clean + draw.standard_normal(clean.shape))), clean, 1.0
    ground, share = terrain(), float(name.split()[-2]) / 100
    clean = ground.measured
    noisy = clean + METRES * draw.standard_normal(clean.shape)
    return PointTask(PointSignal(ground.places, noisy), f"random:{share:g}", seed), clean, METRES


def runs() -> list[Run]:
    """Every row on every signal."""
    names = (*OURS, *OTHERS)
    return [Run(name, signal, method=name, seed=seed) for seed in SEEDS for signal in SIGNALS for name in names]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit or smooth the noisy points; the error is against the truth, where nothing was measured if there is such."""
    import torch

    del data
    torch.set_num_threads(threads)
    task, clean, spread = problem(run.image, run.seed)
    began = time.monotonic()
    predicted = _predicted(run, task)
    seconds = time.monotonic() - began
    rows = np.ones(len(clean), bool)
    if task.seen is not None:
        rows[task.seen.numpy()] = False
    error = float(np.sqrt(np.mean((predicted - clean)[rows] ** 2)) / spread)
    line = {**run.heading, "steps": 0, "params": 0, "seconds": seconds}
    return {**line, "metrics": {"error": error}, "heldout": None}


def _predicted(run: Run, task: PointTask) -> Array:
    from alfilter.runs.fitting import fit_task

    if run.method in OTHERS:
        seen = slice(None) if task.seen is None else task.seen.numpy()
        smooth = smoothed if run.method == OTHERS[0] else gaussian_process
        return smooth(task.signal.places[seen], task.signal.measured[seen], task.signal.places)
    preset, options, recipe = OURS[run.method]
    fitted = fit_task(task, "al-grid", preset=preset, options=options, training=recipe, seed=run.seed)
    return task.predictions(fitted.field)


def smoothed(places: Array, values: Array, queries: Array) -> Array:
    """Smoothing splines: over one coordinate by generalised cross-validation, else thin plates by points held out."""
    if places.shape[1] == 1:
        from scipy.interpolate import make_smoothing_spline

        step = float(np.ptp(places)) / len(places)  # in units of the spacing its search for λ is well scaled
        return np.asarray(make_smoothing_spline(places[:, 0] / step, values)(queries[:, 0] / step))
    from scipy.interpolate import RBFInterpolator

    order = np.random.default_rng(0).permutation(len(places))
    back, rest = np.split(order, [len(order) // 5])
    scale = np.ptp(places, axis=0) / 2

    def spline(rows: Any, at: Array, smoothing: float) -> Array:
        return np.asarray(RBFInterpolator(places[rows] / scale, values[rows], 64, smoothing)(at / scale))

    best = min(SMOOTHING, key=lambda s: float(np.mean((spline(rest, places[back], s) - values[back]) ** 2)))
    return spline(slice(None), queries, best)


def summarise(lines: Lines) -> str:
    """The error against the truth in standard deviations of the noise, by signal, and the time."""

    def error(signal: str) -> Any:
        return lambda line: line["metrics"]["error"] if line["image"] == signal else None

    columns: dict[str, Any] = {signal: error(signal) for signal in SIGNALS}
    return table(lines, {**columns, "seconds": lambda line: float(line["seconds"])})


STUDY = Study("noise", runs, summarise, execute)
