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
RATIOS = (7.0, 3.0)  # their standard deviation, in those of the noise; 7 is Donoho and Johnstone's
METRES = (20.0, 60.0)  # standard deviation of the noise on the terrain, a tenth of whose points are seen
SEEDS = (1, 2, 3)  # the settings were found with 0
SCORED = 20_000  # unseen points of the terrain
SMOOTHING = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of thin plates on points a unit apart

CURVES = tuple(f"{name} 1:{ratio:g}" for ratio in RATIOS for name in ("blocks", "bumps", "heavisine", "doppler"))
GROUNDS = tuple(f"terrain {metres:g} m" for metres in METRES)

_JUMPS = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
_HEIGHTS = np.array([4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
_PEAKS = np.array([4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
_WIDTHS = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])

# preset and options of al-grid
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "al-grid, noisy": ("noisy", {}),
    "al-grid, noisy, α the same everywhere": ("noisy", {"grid": 1}),
    "al-grid, reconstruct": ("reconstruct", {}),
}
CHOSEN = "al-grid, noisy, λ and α grid by held-out points"
# what may be chosen, one at a time: in shares of the preset's own λ and of its nodes per axis
CHANGES = ({"parsimony": 1 / 3}, {"parsimony": 3.0}, {"grid": 0.5})
OTHERS = ("smoothing splines", "Gaussian process")
FIRST_SEED = (CHOSEN, "al-grid, reconstruct")  # rows of one seed


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


def problem(signal: str, seed: int) -> tuple[PointTask, Array, float]:
    """A task of noisy points, the truth (n, 1) at all of its points, and the noise's standard deviation."""
    from alfilter.signals import PointSignal
    from alfilter.tasks import PointTask

    draw = np.random.default_rng(seed)
    name, size = signal.split()[:2]
    if name != "terrain":
        t = (np.arange(COUNT) + 0.5) / COUNT
        clean = truth(name, t)[:, None]
        clean *= float(size.removeprefix("1:")) / clean.std()
        return PointTask(PointSignal(t[:, None], clean + draw.standard_normal(clean.shape))), clean, 1.0
    ground, metres = terrain(), float(size)
    clean = ground.measured
    noisy = clean + metres * draw.standard_normal(clean.shape)
    return PointTask(PointSignal(ground.places, noisy), "random:0.1", seed), clean, metres


def scored(task: PointTask) -> Any:
    """Rows of the points where a field is compared with the truth: all, or some of those it has not seen."""
    rows = np.arange(len(task.signal))
    if task.seen is None:
        return rows
    unseen = np.delete(rows, task.seen.numpy())
    return np.random.default_rng(0).permutation(unseen)[:SCORED]


def runs() -> list[Run]:
    """Every row on every signal, seed by seed; a Gaussian process, which takes longest, after the others."""
    rows = []
    for seed in SEEDS:
        for signal in (*CURVES, *(GROUNDS if seed == SEEDS[0] else ())):
            names = (*OURS, *((CHOSEN,) if signal in CURVES else ()), *OTHERS)
            names = names if seed == SEEDS[0] else tuple(name for name in names if name not in FIRST_SEED)
            rows += [Run(name, signal, method=name, seed=seed) for name in names]
    return sorted(rows, key=lambda run: (run.seed, run.method == OTHERS[1]))


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit or smooth the noisy points; the error is against the truth, where nothing was measured if there is such."""
    del data
    task, clean, spread = problem(run.image, run.seed)
    rows = scored(task)
    began = time.process_time()
    predicted = _predicted(run, task, rows)
    seconds = time.process_time() - began
    error = float(np.sqrt(np.mean((predicted - clean[rows]) ** 2)) / spread)
    line = {**run.heading, "steps": 0, "params": 0, "seconds": seconds}
    return {**line, "metrics": {"error": error}, "heldout": None}


def _predicted(run: Run, task: PointTask, rows: Any) -> Array:
    from alfilter.runs.fitting import fit_task

    if run.method in OTHERS:
        seen = slice(None) if task.seen is None else task.seen.numpy()
        smooth = smoothed if run.method == OTHERS[0] else gaussian_process
        return smooth(task.signal.places[seen], task.signal.measured[seen], task.signal.places[rows])
    preset, options = OURS.get(run.method, ("noisy", {}))
    training: dict[str, Any] = {}
    if run.method == CHOSEN:
        options, training = chosen(task, run.seed)
    fitted = fit_task(task, "al-grid", preset=preset, options=options, training=training, seed=run.seed)
    return np.asarray(task.predictions(fitted.field)[rows])


def chosen(task: PointTask, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options and training of preset `noisy` that a fifth of the points, held out, are better predicted with.

    A change is kept if the squared errors fall by more than the standard error of their difference.
    """
    import torch

    from alfilter.methods import preset
    from alfilter.runs.fitting import fit_task
    from alfilter.tasks.holdout import HoldoutTask

    held, row, density = HoldoutTask(task, 0.2, seed), preset("al-grid", "noisy"), task.density()
    assert density is not None
    usual = {"grid": row.options_at(density)["grid"], "parsimony": row.training_at(density)["parsimony"]}

    def errors(setting: dict[str, Any]) -> Array:
        options, training = {"grid": setting["grid"]}, {"parsimony": setting["parsimony"]}
        fitted = fit_task(
            held, "al-grid", preset="noisy", options=options, training=training, density=density, seed=seed
        )
        x, y = task.load(held.validation)
        with torch.inference_mode():
            return np.asarray((fitted.field(x) - y[:, :-1]).square().mean(1).double().numpy())

    best, least = usual, errors(usual)
    for change in CHANGES:
        (name, factor), *_ = change.items()
        trial = {**best, name: type(usual[name])(usual[name] * factor)}
        tried = errors(trial)
        gain = least - tried
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best, least = trial, tried
    return {"grid": best["grid"]}, {"parsimony": best["parsimony"]}


def smoothed(places: Array, values: Array, queries: Array) -> Array:
    """Smoothing splines: over one coordinate by generalised cross-validation, else thin plates by points held out."""
    spacing = float(np.prod(np.ptp(places, axis=0)) / len(places)) ** (1 / places.shape[1])
    places, queries = places / spacing, queries / spacing
    if places.shape[1] == 1:
        from scipy.interpolate import make_smoothing_spline

        return np.asarray(make_smoothing_spline(places[:, 0], values)(queries[:, 0]))
    from scipy.interpolate import RBFInterpolator

    back, rest = np.split(np.random.default_rng(0).permutation(len(places)), [len(places) // 5])

    def spline(rows: Any, at: Array, smoothing: float) -> Array:
        return np.asarray(RBFInterpolator(places[rows], values[rows], 64, smoothing)(at))

    best = min(SMOOTHING, key=lambda s: float(np.mean((spline(rest, places[back], s) - values[back]) ** 2)))
    return spline(slice(None), queries, best)


def summarise(lines: Lines) -> str:
    """The error against the truth in standard deviations of the noise, by signal, and the processor time."""

    def error(signal: str) -> Any:
        return lambda line: line["metrics"]["error"] if line["image"] == signal else None

    parts = []
    for signals in (CURVES, GROUNDS):
        if members := [line for line in lines if line["image"] in signals]:
            columns = {signal: error(signal) for signal in signals}
            parts.append(table(members, {**columns, "seconds": lambda line: float(line["seconds"])}))
    return "\n\n".join(parts)


STUDY = Study("noise", runs, summarise, execute)
