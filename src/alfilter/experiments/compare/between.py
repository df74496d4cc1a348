"""Between the samples: every method at its best setting and the interpolators, on pictures with gaps and on terrain."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alfilter.experiments.artifacts import observed_mask, thumbnails
from alfilter.experiments.compare.interpolators import PIXELS, POINTS
from alfilter.experiments.fitting import fit_line, prepare_run, reduced_task
from alfilter.experiments.study import Lines, Run, Study, table

if TYPE_CHECKING:
    from alfilter.methods import Field
    from alfilter.tasks import ImageTask, PointTask

IMAGES = [f"div2k/{number:02d}.png" for number in (0, 4, 8, 12)]
SEARCHED = [f"div2k/{number:02d}.png" for number in (3, 9)]  # in no table
SIZE, LARGE = 256, 512  # pictures are reduced to this side by area
SECONDS = 60.0  # of a fit, on one core: two fits side by side take a minute on two cores
GRID_SECONDS = 4.0  # of a grid, which has learned its samples by then
FILLING = "the filling, without a field"
_EXACT = 200.0  # dB: on the samples interpolators err by the rounding of float64, fields by that of float32
OBSERVED = ("every:2", "random:0.35", "random:0.05")
TERRAIN = "terrain"  # the elevation grid inside the matplotlib wheel
MEASURED = ("random:0.02", "random:0.1")

Options = Mapping[str, Any]
COMMON: dict[str, Any] = {"schedule": "cosine", "decay": 0.01, "batch": 2048}

# Found at `every:2` and `random:0.05`; `random:0.35`, whose samples are about as far apart as those of `every:2`, takes
# the setting of the latter.
LIKE = {"every:2": "every:2", "random:0.35": "every:2", "random:0.05": "random:0.05"}


def _own(name: str, sparse: Sequence[Any], dense: Sequence[Any], lr: float) -> dict[str, list[tuple[Options, Options]]]:
    """Three values of a method's own number (ω0, σ, L) under both densities."""
    values = {"every:2": dense, "random:0.05": sparse}
    return {observe: [({name: value}, {"lr": lr}) for value in tried] for observe, tried in values.items()}


# No other method has fewer settings than ours: (options, training) under one observation each.
SEARCH: dict[str, dict[str, list[tuple[Options, Options]]]] = {
    "siren": _own("omega", (8.0, 13.0, 24.0), (20.0, 30.0, 45.0), 5e-4),
    "fourier-features": _own("sigma", (2.0, 3.0, 6.0), (6.0, 8.0, 10.0), 1e-3),
    "pe-mlp": _own("levels", (3, 4, 6), (5, 6, 7), 1e-3),
    "al-sine": {
        observe: [({}, {}), ({"omega": 30.0}, {}), ({}, {"fill": 0.1})] for observe in ("every:2", "random:0.05")
    },
}
# which row of SEARCH was best on both pictures
_ROWS: dict[str, dict[str, int]] = {
    "siren": {"every:2": 2, "random:0.05": 2},
    "fourier-features": {"every:2": 0, "random:0.05": 0},
    "pe-mlp": {"every:2": 0, "random:0.05": 0},
    "al-sine": {"every:2": 0, "random:0.05": 0},
}
BEST: dict[str, dict[str, tuple[Options, Options]]] = {
    name: {observe: SEARCH[name][observe][row] for observe, row in rows.items()} for name, rows in _ROWS.items()
}


def fitted(
    name: str, observe: str, image: str, setting: tuple[Options, Options], group: str, seconds: float, size: int = SIZE
) -> Run:
    """One fit: ours from `reconstruct`, hash-grid from its `default`, networks from their sources' settings."""
    options, recipe = setting
    preset = {"al-sine": "reconstruct", "al-grid": "reconstruct", "hash-grid": "default"}.get(name, "paper")
    return Run(
        group,
        image,
        method=name,
        preset=preset,
        size=size,
        observe=observe,
        settings=options,
        training={**(COMMON if preset == "paper" else {}), **recipe, "budget": seconds, "clock": "cpu"},
    )


def _grids(observe: str, size: int) -> list[Run]:
    filled: Options = {"fill": 1.0}
    rows = {"al-grid": {}, "hash-grid": {}, "hash-grid, with the filling": filled}
    return [
        fitted(group.partition(",")[0], observe, image, ({}, recipe), group, GRID_SECONDS, size)
        for group, recipe in rows.items()
        for image in IMAGES
    ]


def runs() -> list[Run]:
    """Interpolators and grids, on pictures and terrain; then by observation the networks at their best."""
    rows = _interpolators(SIZE) + [run for observe in OBSERVED for run in _grids(observe, SIZE)]
    for observe in MEASURED:
        rows.append(Run("al-grid", TERRAIN, method="al-grid", preset="reconstruct", observe=observe))
        rows += [Run(name, TERRAIN, method=name, observe=observe) for name in POINTS]
    for observe in OBSERVED:
        for name in ("al-sine", "siren", "fourier-features", "pe-mlp"):
            rows += [fitted(name, observe, image, BEST[name][LIKE[observe]], name, SECONDS) for image in IMAGES]
        paper = {"budget": SECONDS, "clock": "cpu", "tv": 1e-3}
        rows += [Run("al-sine, paper", i, preset="paper", size=SIZE, observe=observe, training=paper) for i in IMAGES]
    # is it the filling or the method? siren with the same filling, at the weight that the preset gives it
    filled = ({"omega": 45.0}, {"lr": 5e-4, "fill": 1.0})
    rows += [fitted("siren", "every:2", image, filled, "siren, with the filling", SECONDS) for image in IMAGES]
    budget = {"budget": SECONDS, "clock": "cpu"}
    return rows + [
        Run("al-sine", TERRAIN, preset="reconstruct", observe=observe, training=budget) for observe in MEASURED
    ]


def large() -> list[Run]:
    """Pictures of 512×512: the interpolators, the grids, and the networks at their best setting of 256×256."""
    rows = _interpolators(LARGE) + [run for observe in OBSERVED for run in _grids(observe, LARGE)]
    others = [(name, observe) for observe in reversed(OBSERVED) for name in ("siren", "fourier-features")]
    return rows + [
        fitted(name, observe, image, BEST[name][LIKE[observe]], name, SECONDS, LARGE)
        for name, observe in (*others, *(("al-sine", observe) for observe in OBSERVED))
        for image in IMAGES
    ]


def _interpolators(size: int) -> list[Run]:
    return [
        Run(name, image, method=name, size=size, observe=observe)
        for observe in OBSERVED
        for name in (*PIXELS, FILLING)
        if name != "bicubic" or observe == "every:2"
        for image in IMAGES
    ]


def search() -> list[Run]:
    """The same small search for every method, on two pictures that are in no table."""
    return [
        fitted(name, observe, image, setting, f"{name} {observe} {_words(setting)}", SECONDS / 2)
        for name, by_observe in SEARCH.items()
        for observe, settings in by_observe.items()
        for setting in settings
        for image in SEARCHED
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Carry out one run: an interpolator in a moment, a fit in its budget."""
    from alfilter.tasks import PointTask

    task = open_task(run, data)
    began = time.monotonic()
    field = None
    line: dict[str, Any] = {**run.heading, "steps": 0, "params": 0}
    if run.method in (*PIXELS, *POINTS, FILLING):
        prediction = _interpolated(run.method, task)
    else:
        fitted = prepare_run(run, task).fit()  # whole, as its seconds are measured
        field, line = fitted.field, fit_line(run, fitted)
        prediction = _values(field, task)
    line["seconds"] = time.monotonic() - began
    if isinstance(task, PointTask):
        scores, pictures = task.compare(prediction), {}
    else:
        target = task.target()
        scores = task.compare(prediction, target)
        pictures = thumbnails(field, prediction.numpy(), target.numpy(), observed_mask(task))
    return {**line, "metrics": scores.metrics, "heldout": scores.heldout, **pictures}


def open_task(run: Run, data: str) -> ImageTask | PointTask:
    """The picture with gaps, or the terrain's points."""
    from alfilter.tasks import PointTask

    return PointTask(terrain(), run.observe, run.seed) if run.image == TERRAIN else reduced_task(run, data)


def terrain() -> Any:
    """Elevations in metres over east and north in degrees: 344 × 403 points that ship with matplotlib."""
    from matplotlib.cbook import get_sample_data

    from alfilter.signals import PointSignal

    opened: Any = get_sample_data("jacksboro_fault_dem.npz")
    with opened as arrays:
        height = np.asarray(arrays["elevation"], dtype=np.float64)
        north, east = (float(arrays[name]) for name in ("dy", "dx"))
    rows, columns = np.indices(height.shape)
    places = np.stack([columns.ravel() * east, -rows.ravel() * north], axis=1)
    return PointSignal(places, height.reshape(-1, 1), coord_names=["east", "north"], value_names=["elevation"])


def _values(field: Field, task: ImageTask | PointTask) -> Any:
    """A field's values at all samples of a task, seen or not."""
    from alfilter.evaluate import sample_grid
    from alfilter.tasks import PointTask

    return task.predictions(field) if isinstance(task, PointTask) else sample_grid(field, task.signal.shape)


def _interpolated(name: str, task: ImageTask | PointTask) -> Any:
    """An interpolator's values at all samples of a task."""
    import torch

    from alfilter.tasks import PointTask

    if isinstance(task, PointTask):
        assert task.seen is not None
        seen, signal = task.seen.numpy(), task.signal
        return POINTS[name](signal.places[seen], signal.measured[seen], signal.places)
    if name == FILLING:
        return filled_in(task)
    return torch.from_numpy(PIXELS[name](task.target().double().numpy(), observed_mask(task))).float()


def filled_in(task: ImageTask) -> Any:
    """The seen samples of a picture, and what a fit learns between them: (H, W, c)."""
    filling, seen, values = task.filling(), task.seen_mask(), task.target().flatten(0, -2).clone()
    assert filling is not None
    assert seen is not None
    values[~seen] = filling.y
    return values.view(*task.signal.shape, task.out_dim)


def _words(setting: tuple[Options, Options]) -> str:
    merged = {**setting[0], **setting[1]}
    return " ".join(f"{name}={value}" for name, value in merged.items()) or "as the preset"


def _score(observe: str, part: str, name: str) -> Any:
    def read(line: dict[str, Any]) -> float | None:
        value = (line[part] or {}).get(name) if line["observe"] == observe else None
        return value if value is not None and value < _EXACT else None

    return read


def summarise(lines: Lines) -> str:
    """Three tables: pictures, terrain, time."""
    pictures = [line for line in lines if line["image"] != TERRAIN]
    columns = {"every:2 between, dB": _score("every:2", "heldout", "psnr_between")}
    for part, words in (("heldout", "unseen"), ("metrics", "seen")):
        columns |= {f"{observe} {words}, dB": _score(observe, part, "psnr") for observe in OBSERVED}
    parts = [table(pictures, columns)] if pictures else []
    if len(pictures) < len(lines):
        parts.append(summarise_terrain(lines))
    return "\n\n".join(parts)


def summarise_terrain(lines: Lines) -> str:
    """Errors on the terrain's unseen points, and the seconds of a run."""
    metres = {f"{observe} unseen, RMSE in m": _score(observe, "heldout", "rmse") for observe in MEASURED}
    ground = [line for line in lines if line["image"] == TERRAIN]
    return table(ground, {**metres, "seconds": lambda line: float(line["seconds"])})


STUDY = Study("between", runs, summarise, execute, threads=1)
SEARCH_STUDY = Study("between-search", search, summarise, execute, threads=1)
LARGE_STUDY = Study("between-large", large, summarise, execute, threads=1)
