"""α: which unit, start, bounds, rate, band, ω0, grid, and do raw coordinates beside γ' help? Seen and held out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.study import Lines, Run, Study, heldout_psnr, seen_psnr, table

IMAGES = [f"div2k/{number:02d}.png" for number in (1, 5, 9, 13)]  # not those of the published figures
SIZE = 48
STEPS = 150

# From here every row below changes one thing. Schedule and rates are those of `default`, so that only α is in question.
BASE: dict[str, Any] = {"start": 0.0, "unit": "axis", "coordinates": True, "gain": 1.0, "omega": 30.0, "grid": 32,
                        "placement": "ends"}  # fmt: skip
RECIPE: dict[str, Any] = {
    "steps": STEPS,
    "schedule": "cosine",
    "decay": 0.01,
    "lr": 1e-3,
    "lr_encoding": 3e-3,
    "tv": 0.0,  # the paper's, which comes with unseen pixels, would be a second thing that changes
}

ROWS: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "base: start 0, axis unit, x beside γ', gain 1, ω0 30, 32² grid": ({}, {}),
    "paper: start mid, channel unit, no x, grid per sample": (
        {"start": None, "unit": "channel", "coordinates": False, "grid": None},
        {},
    ),
    "paper with axis unit": ({"start": None, "unit": "axis", "coordinates": False, "grid": None}, {}),
    "paper with start 0": ({"start": 0.0, "unit": "channel", "coordinates": False, "grid": None}, {}),
    "unit: channel": ({"unit": "channel"}, {}),
    "no bounds, rate of α 1e-2": ({"bounded": False}, {"lr_encoding": 1e-2}),
    "paper, axis unit, no bounds, rate of α 1e-2": (
        {"start": None, "unit": "axis", "coordinates": False, "grid": None, "bounded": False},
        {"lr_encoding": 1e-2},
    ),
    "paper, axis unit, bounds, rate of α 1e-2": (
        {"start": None, "unit": "axis", "coordinates": False, "grid": None},
        {"lr_encoding": 1e-2},
    ),
    "start: -6": ({"start": -6.0}, {}),
    "start: 4": ({"start": 4.0}, {}),
    "start: 8": ({"start": 8.0}, {}),
    "start: middle (16)": ({"start": 16.0}, {}),
    "no coordinates": ({"coordinates": False}, {}),
    "gain 0.1": ({"gain": 0.1}, {}),
    "gain 0.3": ({"gain": 0.3}, {}),
    "gain 3": ({"gain": 3.0}, {}),
    "rate of α 1e-3": ({}, {"lr_encoding": 1e-3}),
    "rate of α 1e-2": ({}, {"lr_encoding": 1e-2}),
    "rate of the network 5e-4": ({}, {"lr": 5e-4}),
    "B 8": ({"bandwidth": 8.0}, {}),
    "B 12": ({"bandwidth": 12.0}, {}),
    "κ 2": ({"kappa": 2.0}, {}),
    "L 5, B 12": ({"levels": 5, "bandwidth": 12.0}, {}),
    "ω0 20": ({"omega": 20.0}, {}),
    "ω0 45": ({"omega": 45.0}, {}),
    "grid 8²": ({"grid": 8}, {}),
    "grid 16²": ({"grid": 16}, {}),
    "grid per sample": ({"grid": None}, {}),
    "reconstruct: gain 0.1, L 4, B 8, 16² grid, 5e-4": (
        {"gain": 0.1, "levels": 4, "bandwidth": 8.0, "grid": 16},
        {"lr": 5e-4},
    ),
}


def runs() -> list[Run]:
    """Every row on four crops: fitted whole (one seed), and from every other pixel (two seeds)."""
    cases = [("all", 0), ("every:2", 0), ("every:2", 1)]
    return [
        Run(
            row,
            image,
            preset="paper",
            size=SIZE,
            observe=observe,
            seed=seed,
            settings={**BASE, **settings},
            training={**RECIPE, **training},
        )
        for row, (settings, training) in ROWS.items()
        for image in IMAGES
        for observe, seed in cases
    ]


def summarise(lines: Lines) -> str:
    """The table of the study."""
    return table(
        lines,
        {
            "all samples, dB": lambda line: seen_psnr(line, "all"),
            "every other: seen, dB": lambda line: seen_psnr(line, "every:2"),
            "every other: between, dB": heldout_psnr,
        },
    )


STUDY = Study("alpha", runs, summarise)
