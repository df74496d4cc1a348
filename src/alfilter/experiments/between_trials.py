"""Between the samples, one change at a time: what each part of preset `reconstruct` is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.between import OBSERVED, SEARCHED, execute, summarise
from alfilter.experiments.experiment import Experiment, Run

SIZE = 128  # pictures are reduced to this side by area
SECONDS = 15.0  # on two cores: the time of a fit of 256×256 pixels, a sample
SEEDS = (0, 1)

Change = tuple[Mapping[str, Any], Mapping[str, Any]]  # options, training

CHANGES: dict[str, Change] = {
    "reconstruct": ({}, {}),
    "one network of the same cost": ({"heads": 1, "width": 256}, {}),
    "eight heads": ({"heads": 8}, {}),
    "no γ' (gain 0): SIREN with the same recipe": ({"gain": 0.0}, {"lr_encoding": 0.0}),
    "gain 0.3": ({"gain": 0.3}, {}),
    "gain 1": ({"gain": 1.0}, {}),
    "α grid 8²": ({"grid": 8}, {}),
    "α grid 32²": ({"grid": 32}, {}),
    "κ 2": ({"kappa": 2.0}, {}),
    "three layers": ({"depth": 3}, {}),
    "no jitter, no bending": ({}, {"jitter": 0.0, "bend": 0.0}),
    "mean of the weights": ({}, {"average": 0.2}),
    "weight decay 0.1": ({}, {"weight_decay": 0.1}),
    "bending 1e-4, p = 1": ({}, {"bend": 1e-4, "bend_power": 1.0}),
    "bending 0.003, p = 2, no jitter": ({}, {"bend": 3e-3, "bend_power": 2.0, "jitter": 0.0}),
    "bending 0.03, p = 2, no jitter": ({}, {"bend": 3e-2, "bend_power": 2.0, "jitter": 0.0}),
    "no bending, jitter 0.15 of the distance": ({}, {"bend": 0.0, "jitter": 0.3}),
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


STUDY = Experiment("between-trials", "what is each part of preset reconstruct worth?", runs, summarise, execute)
