"""Settings for shapes: the same ten short fits of every method, on a scan that is in no table.

The draws are one low-discrepancy sequence, read through each method's own ranges: six over the whole box, four in a
smaller one around the best of the six. Every fit has the same time of one core. The IoU with the scan decides.

A rate that is best in seconds can end a fit of minutes in noise. So `shapes-rates` fits each method's best setting
again for longer, at the rate found and at two fifths of it: on the same scan, and on one with a relief carved into it,
as the scans of the tables are rough and it is smooth.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from alfilter.experiments.fitting import prepare_run
from alfilter.experiments.study import Lines, Run, Study, table
from alfilter.experiments.tuning.draws import Range, draws

MESH = "meshes/bunny.obj"
BUDGET = 25.0  # seconds on one core, per fit
RESOLUTION = 128  # of the surface and the grid that are scored
BROAD, NARROW = 6, 4
CARVED = MESH + "#carved"  # the same with a relief
RELIEF, WAVES = 0.012, 16.0  # its height and its waves along a side, both relative to the mesh's longest
LONGER = {MESH: 120.0, CARVED: 300.0}  # seconds of a core, where rates are tried again
FACTORS = (1.0, 0.4)

WIDTH = {"width": Range(choices=(128, 160, 192))}
BATCH = {"batch": Range(choices=(2048, 4096))}
OMEGA = {"omega": Range(15.0, 60.0)}
SINE = {"lr": Range(3e-4, 3e-3)}
# what is searched: the training's numbers, then the method's
RATES: dict[str, dict[str, Range]] = {
    "al-sine": {**BATCH, **SINE, "lr_encoding": Range(3e-4, 1e-2)},
    "siren": {**BATCH, **SINE},
    "pe-mlp": {**BATCH, "lr": Range(5e-4, 1e-2)},
    "bacon": {**BATCH, "lr": Range(1e-3, 1e-2)},
}
OPTIONS: dict[str, dict[str, Range]] = {
    "al-sine": {**WIDTH, **OMEGA, "gain": Range(0.1, 2.0)},
    "siren": {**WIDTH, **OMEGA},
    "pe-mlp": {**WIDTH, "levels": Range(choices=(4, 5, 6, 7))},
    "bacon": {"width": Range(choices=(96, 128, 192)), "resolution": Range(choices=(64, 96, 128, 192, 256))},
}


def runs() -> list[Run]:
    """One run per method: its ten fits."""
    return [Run(name, MESH, method=name, preset="default-shape", training={"budget": BUDGET}) for name in OPTIONS]


def drawn(method: str, u: list[float], centre: dict[str, Any]) -> dict[str, Any]:
    """The settings at a point of [0, 1)^6; with a centre, of the smaller box around it."""
    ranges = {**RATES[method], **OPTIONS[method]}
    return {name: area.at(at, centre.get(name)) for at, (name, area) in zip(u, ranges.items(), strict=False)}


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The ten fits of a method, in the line's `trials`; the best of them is its result."""
    from alfilter.tasks import SdfTask
    from alfilter.tasks.open import open_task

    task = open_task(str(Path(data) / run.image), seed=run.seed)
    assert isinstance(task, SdfTask)
    trials: Lines = []
    for seed, count in enumerate((BROAD, NARROW)):
        centre = max(trials, key=_score)["settings"] if trials else {}
        trials += [_trial(run, task, drawn(run.method, u, centre)) for u in draws(count, seed)]
    best = max(trials, key=_score)
    return {**run.heading, "steps": best["steps"], "params": best["params"],
            "seconds": sum(trial["seconds"] for trial in trials), "metrics": best["metrics"], "heldout": None,
            "settings": best["settings"], "trials": trials}  # fmt: skip


def _score(trial: dict[str, Any]) -> float:
    return float(trial["metrics"].get("iou", 0.0))


def _trial(run: Run, task: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """One fit and its scores; without any if it ended in NaN or has no surface."""
    from alfilter.errors import UserError
    from alfilter.methods import parameter_count
    from alfilter.runs.fitting import NotFinite

    rates = {name: value for name, value in settings.items() if name in RATES[run.method]}
    options = {name: value for name, value in settings.items() if name not in rates}
    recipe = {"clock": "cpu", **run.training, **rates}
    prepared = prepare_run(replace(run, settings=options, training=recipe), task)
    steps, seconds, metrics = 0, 0.0, {}
    try:
        fitted = prepared.fit()
        steps, seconds = fitted.result.steps, fitted.result.seconds
        surface = task.extract(fitted.field, RESOLUTION)
        metrics = task.compare(fitted.field, surface, points=30_000, grid=RESOLUTION).metrics
    except (NotFinite, UserError):
        pass
    return {"settings": settings, "metrics": metrics, "steps": steps, "seconds": seconds,
            "params": parameter_count(prepared.field)}  # fmt: skip


def summarise(lines: Lines) -> str:
    """Every setting tried and its IoU, the best of each method marked."""
    rows = ["| method | settings | parameters | steps | IoU |", "|---|---|---|---|---|"]
    for line in lines:
        best = max(line["trials"], key=_score)
        for trial in line["trials"]:
            words = " ".join(f"{name}={value}" for name, value in trial["settings"].items())
            score = f"{_score(trial):.4f}" + (" (best)" if trial is best else "")
            rows.append(f"| {line['method']} | {words} | {trial['params']:,} | {trial['steps']} | {score} |")
    return "\n".join(rows)


# the search's own result: batch and network as in the presets, rates as found
BEST_RATES: dict[str, dict[str, float]] = {
    "al-sine": {"lr": 4.6e-4, "lr_encoding": 1.3e-3},
    "siren": {"lr": 1.2e-3},
    "pe-mlp": {"lr": 1e-3},
    "bacon": {"lr": 6e-3},
}


def rates() -> list[Run]:
    """The best setting of every method at its rates times each factor."""
    return [
        Run(
            f"{name}, rates times {factor:g}",
            image,
            method=name,
            preset="default-shape",
            training={"budget": LONGER[image], **{key: factor * value for key, value in BEST_RATES[name].items()}},
        )
        for image in LONGER
        for factor in FACTORS
        for name in OPTIONS
    ]


def carved(vertices: Any, faces: Any) -> Any:
    """The vertices (n, 3) moved along their normals by h sin(2πwx) sin(2πwy) sin(2πwz), lengths in longest sides."""
    import numpy as np

    from alfilter.geometry.surface import vertex_normals

    longest = float(np.ptp(vertices, axis=0).max())
    height = np.sin(2 * np.pi * WAVES * vertices / longest).prod(axis=1, keepdims=True)
    return vertices + RELIEF * longest * height * vertex_normals(vertices, faces)


def execute_rates(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """One longer fit."""
    return {**run.heading, **_trial(run, carved_task(run, data), {}), "settings": {}, "heldout": None}


def carved_task(run: Run, data: str) -> Any:
    """The task of a run's mesh, or of `MESH#carved` that of the mesh with the relief."""
    from alfilter.tasks import SdfTask
    from alfilter.tasks.open import open_task

    path, _, relief = run.image.partition("#")
    task = open_task(str(Path(data) / path), seed=run.seed)
    assert isinstance(task, SdfTask)
    if relief and task.signal.faces is not None:
        rough = carved(task.signal.vertices, task.signal.faces)
        task = SdfTask.from_array(rough, task.signal.faces, seed=run.seed)
    return task


def summarise_rates(lines: Lines) -> str:
    """IoU and steps of every method and factor."""
    columns: dict[str, Any] = {
        "IoU, %": lambda line: 100 * _score(line),
        "Chamfer above the floor, 1e-6": lambda line: _above(line["metrics"]),
        "steps": lambda line: float(line["steps"]),
    }
    parts: list[str] = []
    for image in LONGER:
        parts += [f"{image}, {LONGER[image]:g} seconds of a core", "", table(_of(lines, image), columns), ""]
    return "\n".join(parts).rstrip()


def _of(lines: Lines, image: str) -> Lines:
    return [line for line in lines if line["image"] == image]


def _above(metrics: dict[str, float]) -> float | None:
    return 1e6 * (metrics["chamfer"] - metrics["chamfer_floor"]) if "chamfer" in metrics else None


STUDY = Study("shapes-search", runs, summarise, execute)
RATES_STUDY = Study("shapes-rates", rates, summarise_rates, execute_rates)
