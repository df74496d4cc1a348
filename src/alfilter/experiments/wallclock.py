"""One minute at 512×512: the same small search for every method, on images that are in no table."""

from __future__ import annotations

from typing import Any

from alfilter.experiments.experiment import Experiment, Lines, Run, table

IMAGE = "div2k/05.png"
STEPS = 250  # mini-batches of 8,192: half a minute of two cores, enough to rank settings
COMMON: dict[str, Any] = {"steps": STEPS, "schedule": "cosine", "decay": 0.01, "batch": 8192}
LARGE: dict[str, Any] = {"batch": 16384, "steps": STEPS // 2}
SMALL: dict[str, Any] = {"batch": 4096, "steps": STEPS * 2}
ADAPTIVE: dict[str, Any] = {"start": 0.0, "unit": "axis", "coordinates": True}

# ω0, rate, schedule and batch for all of them; ours has as many rows as the others, its own options included.
SEARCH: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "al-sine": [
        ({**ADAPTIVE, "omega": 60.0}, {"lr": 5e-4, "lr_encoding": 3e-3}),
        ({**ADAPTIVE, "omega": 60.0}, {"lr": 5e-4, "lr_encoding": 1e-3}),
        ({**ADAPTIVE, "omega": 60.0}, {"lr": 4e-4, "lr_encoding": 3e-4}),
        ({**ADAPTIVE, "omega": 60.0, "gain": 3.0}, {"lr": 4e-4, "lr_encoding": 3e-4}),
        ({**ADAPTIVE, "omega": 60.0, "gain": 3.0}, {"lr": 4e-4, "lr_encoding": 6e-4}),
        ({**ADAPTIVE, "omega": 60.0, "gain": 3.0}, {"lr": 4e-4, "lr_encoding": 6e-4, **SMALL}),
        ({**ADAPTIVE, "omega": 45.0, "gain": 3.0}, {"lr": 6e-4, "lr_encoding": 6e-4}),
        ({**ADAPTIVE, "omega": 90.0, "gain": 2.0}, {"lr": 3e-4, "lr_encoding": 6e-4}),
        ({**ADAPTIVE, "omega": 60.0, "gain": 3.0}, {"lr": 4e-4, "lr_encoding": 6e-4, "schedule": "constant"}),
    ],
    "siren": [
        ({"omega": 30.0}, {"lr": 1e-4}),
        ({"omega": 60.0}, {"lr": 2e-4}),
        ({"omega": 60.0}, {"lr": 5e-4}),
        ({"omega": 60.0}, {"lr": 1e-3}),
        ({"omega": 90.0}, {"lr": 3e-4}),
        ({"omega": 120.0}, {"lr": 2e-4}),
        ({"omega": 60.0}, {"lr": 5e-4, **SMALL}),
        ({"omega": 90.0}, {"lr": 3e-4, **SMALL}),
        ({"omega": 60.0}, {"lr": 5e-4, "schedule": "constant"}),
    ],
    "pe-mlp": [
        ({"levels": 8}, {"lr": 1e-3}),
        ({"levels": 8}, {"lr": 3e-3}),
        ({"levels": 8}, {"lr": 6e-3}),
        ({"levels": 9}, {"lr": 3e-3}),
        ({"levels": 7}, {"lr": 3e-3}),
        ({"levels": 10}, {"lr": 3e-3}),
        ({"levels": 8}, {"lr": 3e-3, **SMALL}),
        ({"levels": 8}, {"lr": 3e-3, **LARGE}),
        ({"levels": 8}, {"lr": 3e-3, "schedule": "constant"}),
    ],
}


def runs() -> list[Run]:
    """Every row of the search; the row's name lists what it sets."""
    return [
        Run(
            f"{method}: {_words({**settings, **training})}",
            IMAGE,
            method=method,
            preset="paper",
            settings=settings,
            training={**COMMON, **training},
        )
        for method, rows in SEARCH.items()
        for settings, training in rows
    ]


def _words(values: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items() if name not in ADAPTIVE)


def summarise(lines: Lines) -> str:
    """PSNR and seconds of every setting."""
    return table(lines, {"PSNR, dB": lambda line: line["metrics"]["psnr"], "seconds": lambda line: line["seconds"]})


STUDY = Experiment("wallclock", "which setting of each method is best for one minute at 512×512?", runs, summarise)
