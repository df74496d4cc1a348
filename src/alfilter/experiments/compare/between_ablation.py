"""Between the samples, one change at a time: what each part of preset `reconstruct` is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.compare.between import OBSERVED, SEARCHED, execute, summarise
from alfilter.experiments.study import Run, Study

SIZE = 128  # pictures are reduced to this side by area
SECONDS = 15.0  # as long per sample as a minute at 256×256
SEEDS = (0, 1)

Change = tuple[Mapping[str, Any], Mapping[str, Any]]  # options, training

CHANGES: dict[str, Change] = {
    "reconstruct": ({}, {}),
    "no filling": ({}, {"fill": 0.0}),
    "filling at weight 0.1": ({}, {"fill": 0.1}),
    "filling at weight 0.5": ({}, {"fill": 0.5}),
    "filling at weight 1": ({}, {"fill": 1.0}),
    "one node of α per pixel": ({"grid": SIZE}, {}),
    "no γ' (gain 0): SIREN with the filling": ({"gain": 0.0}, {"lr_encoding": 0.0}),
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


STUDY = Study("between-trials", runs, summarise, execute, threads=1)
