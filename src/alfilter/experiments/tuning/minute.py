"""`default` of every method for one minute at 512×512: the line search of `tuning`, on one whole picture.

It starts where the search on 96×96 pixels ended, for three methods where sixteen random draws on the same picture did,
and also moves the size of a batch. Every trial has the same time of one core. The grids with a node on every sample
start at their presets, which the study `grids` compared, and come last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from alfilter.experiments.fitting import cropped_task
from alfilter.experiments.study import Lines, Run, Study
from alfilter.experiments.tuning.methods import SEARCHES, Axis, Search, search_line, search_table

IMAGE = "div2k/06.png"  # also the seventh of the study `minute`, where it favours no method: all are searched on it
SECONDS = 12.0  # of one core, per trial: a tenth of a minute on two
TRIALS = 10
GRIDS = ("hash-grid", "al-grid")
BATCH = Axis({"batch": 0.5})  # a smaller one first: more steps in the same time
COMMON: dict[str, Any] = {"budget": SECONDS, "schedule": "cosine", "decay": 0.01}
_FILTERED: dict[str, Any] = {"start": 0.0, "unit": "axis", "coordinates": True, "placement": "centres"}
# the best of sixteen draws each, where they began with other frequencies than the search on few pixels ended with
STARTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "al-sine": (
        {**_FILTERED, "gain": 1.4, "omega": 73.0},
        {"lr": 1.7e-4, "lr_encoding": 4.2e-4, "batch": 4096},
    ),
    "siren": ({"omega": 79.0}, {"lr": 4.2e-4, "batch": 4096}),
    "pe-mlp": ({"levels": 10, "placement": "centres"}, {"lr": 5.5e-3, "batch": 4096}),
}


def searches() -> dict[str, Search]:
    """Where the search of every method starts, and along which axes it goes."""
    from alfilter.methods.tuned import SMALL

    starts = {**SMALL, **STARTS}
    networks = {name: _started(search, *starts[name]) for name, search in SEARCHES.items() if name not in GRIDS}
    return {**networks, **{name: _on_samples(name) for name in GRIDS}}


def _on_samples(name: str) -> Search:
    """From a grid's preset, which its run has: only what the search moves, or what `runs` would change, is named."""
    from alfilter.methods import preset

    row = preset(name, "default")
    named = ("lr", "lr_encoding", "decay", "micro", "batch", "parsimony")
    training = {key: row.training[key] for key in named if key in row.training}
    price = (Axis({"parsimony": 2.0}),) if "parsimony" in training else ()
    return Search(SEARCHES["hash-grid"].scale, {"density": row.options["density"]}, training, (*price, BATCH))


def _started(search: Search, options: Any, recipe: Any) -> Search:
    batch = recipe.get("batch", 8192)  # none: all samples in every step
    training = {name: recipe[name] for name in search.training} | ({} if batch is None else {"batch": batch})
    more = search.more if batch is None else (*search.more, BATCH)
    return replace(search, options=options, training=training, more=more)


def runs() -> list[Run]:
    """One run per method: its ten fits."""
    from alfilter.methods.tuned import MICRO

    return [
        Run(name, IMAGE, method=name, preset="default", training={**COMMON, "micro": MICRO.get(name, 4096)})
        for name in searches()
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The ten fits of a method, in the line's `trials`; the best of them is its result."""
    return search_line(run, cropped_task(run, data), searches()[run.method], TRIALS)


def summarise(lines: Lines) -> str:
    """What the search of every method started with, found, and gained."""
    return search_table(lines, searches())


STUDY = Study("tuning-minute", runs, summarise, execute, threads=1)
