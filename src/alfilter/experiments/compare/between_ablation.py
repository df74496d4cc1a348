"""Between the samples, one change at a time: what each part of preset `reconstruct` is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.compare.between import OBSERVED, SEARCHED, execute, summarise
from alfilter.experiments.study import Run, Study

SIZE = 128  # pictures are reduced to this side by area
SECONDS = 15.0  # the time of a fit of 256×256 pixels, a sample
SEEDS = (0, 1)

Change = tuple[Mapping[str, Any], Mapping[str, Any]]  # options, training

CHANGES: dict[str, Change] = {
    "reconstruct": ({}, {}),
    "no filling": ({}, {"fill": 0.0}),
    "jitter of 0.3 pixels instead": ({}, {"fill": 0.0, "jitter": 0.3}),
    "bending 0.03, p = 2, instead": ({}, {"fill": 0.0, "bend": 3e-2, "bend_power": 2.0}),
    "filling at weight 0.1": ({}, {"fill": 0.1}),
    "filling at weight 0.5": ({}, {"fill": 0.5}),
    "filling at weight 1": ({}, {"fill": 1.0}),
    "a node of α a pixel": ({"grid": SIZE}, {}),
    "no γ' (gain 0): SIREN with the filling": ({"gain": 0.0}, {"lr_encoding": 0.0}),
    "four heads of width 128": ({"heads": 4, "width": 128}, {}),
    "TV of α 1e-3": ({}, {"tv": 1e-3}),
}


def runs() -> list[Run]:
    """Every change under every observation on both pictures, the first seed before the second."""
    return [
        Run(
            group,
            image,
            preset="reconstruct",
            size=SIZE,
            observe=observe,
            seed=seed,
            settings=options,
            training={**recipe, "budget": SECONDS, "clock": "cpu"},
        )
        for seed in SEEDS
        for observe in OBSERVED
        for group, (options, recipe) in CHANGES.items()
        for image in SEARCHED
    ]


STUDY = Study("between-trials", runs, summarise, execute)
