"""What searches found for every method, and the presets `default` made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from alfilter.methods.method import Method, Preset

Settings = tuple[Mapping[str, Any], Mapping[str, Any]]
# options, training of few pixels; `alfilter experiment tuning` prints them
SMALL: dict[str, Settings] = {
    "al-sine": (
        {"start": 0.0, "unit": "axis", "coordinates": True, "omega": 30.0},
        {"lr": 0.001, "lr_encoding": 0.000333, "schedule": "cosine", "decay": 0.01},
    ),
    "al-relu": (
        {"start": 0.0, "unit": "axis", "levels": 8, "placement": "centres"},
        {"lr": 0.003, "lr_encoding": 0.009, "schedule": "constant"},
    ),
    "pe-mlp": ({"levels": 7}, {"lr": 0.003, "schedule": "constant"}),
    "fourier-features": ({"sigma": 20.0}, {"lr": 0.00173, "schedule": "constant"}),
    "siren": ({"omega": 42.4}, {"lr": 0.0009, "schedule": "cosine", "decay": 0.01}),
    "gauss": ({"depth": 3, "sigma": 0.045}, {"lr": 0.0045, "schedule": "cosine", "decay": 0.01}),
    "wire": ({"omega": 10.0, "scale": 15.0}, {"lr": 0.000557, "schedule": "constant"}),
    "hosc": ({"omega": 30.0, "beta": 2.0}, {"lr": 0.0009, "schedule": "cosine", "decay": 0.01}),
    "sinc": ({"omega": 30.0}, {"lr": 0.00173, "schedule": "cosine", "decay": 0.01}),
    "finer": ({"depth": 3, "omega": 60.0}, {"lr": 0.0005, "schedule": "cosine", "decay": 0.01}),
    "mfn-fourier": ({"scale": 1020.0}, {"lr": 0.01, "schedule": "cosine", "decay": 0.01}),
    "mfn-gabor": ({"scale": 128.0}, {"lr": 0.0173, "schedule": "constant"}),
    "bacon": ({"reach": 1.0}, {"lr": 0.0342, "schedule": "cosine", "decay": 0.01}),
    "poly-inr": ({"width": 128, "levels": 5}, {"lr": 0.009, "schedule": "constant"}),
    "hash-grid": (
        {"table": 16, "density": 2.0},
        {
            "lr": 0.03,
            "lr_encoding": 0.09,
            "weight_decay": 1e-06,
            "beta2": 0.99,
            "epsilon": 1e-15,
            "schedule": "cosine",
            "decay": 0.01,
        },
    ),
    "filter-bank": (
        {"base": 16, "table": 16, "width": 64, "omega": 100.0, "sigma": 5.0},
        {"lr": 0.0003, "lr_encoding": 0.0003, "beta2": 0.99, "schedule": "cosine", "decay": 0.01},
    ),
    "diner": (
        {"activation": "sine", "width": 64, "omega": 60.0},
        # found where a row is seen in every fourth step; one that is seen in one step of 32 is left behind
        {"batch": None, "lr": 0.0009, "lr_encoding": 0.0027, "schedule": "constant"},
    ),
    "octree": (
        {"levels": None, "cell": 1.0, "features": 4, "width": 64},
        {"lr": 0.027, "lr_encoding": 0.027, "schedule": "constant"},
    ),
    "acorn": ({"tiles": 256, "every": 100, "patch": 16}, {"lr": 0.0052, "lr_encoding": 0.0052, "schedule": "constant"}),
}
# the same for a minute at 512×512; `alfilter experiment tuning-minute` prints them
MINUTE: dict[str, Settings] = {
    "al-sine": (
        {"start": 0.0, "unit": "axis", "coordinates": True, "placement": "centres", "gain": 1.4, "omega": 73.0},
        {"lr": 0.00017, "lr_encoding": 0.00042, "batch": 2048, "schedule": "cosine", "decay": 0.01},
    ),
    "al-relu": (
        {"start": 0.0, "unit": "axis", "levels": 6, "placement": "centres"},
        {"lr": 0.003, "lr_encoding": 0.027, "batch": 8192, "schedule": "cosine", "decay": 0.01},
    ),
    "pe-mlp": ({"levels": 10, "placement": "centres"}, {"lr": 0.0055, "batch": 2048, "schedule": "constant"}),
    "fourier-features": ({"sigma": 20.0}, {"lr": 0.00519, "batch": 1024, "schedule": "cosine", "decay": 0.01}),
    "siren": ({"omega": 79.0}, {"lr": 0.00042, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "gauss": ({"depth": 3, "sigma": 0.045}, {"lr": 0.0015, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "wire": ({"omega": 10.0, "scale": 15.0}, {"lr": 0.00167, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "hosc": ({"omega": 60.0, "beta": 2.0}, {"lr": 0.0009, "batch": 8192, "schedule": "cosine", "decay": 0.01}),
    "sinc": ({"omega": 30.0}, {"lr": 0.00173, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "finer": ({"depth": 3, "omega": 60.0}, {"lr": 0.0005, "batch": 4096, "schedule": "cosine", "decay": 0.01}),
    "mfn-fourier": ({"scale": 510.0}, {"lr": 0.01, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "mfn-gabor": ({"scale": 512.0}, {"lr": 0.0173, "batch": 1024, "schedule": "cosine", "decay": 0.01}),
    "bacon": ({"reach": 1.0}, {"lr": 0.0114, "batch": 2048, "schedule": "cosine", "decay": 0.01}),
    "poly-inr": ({"width": 128, "levels": 5}, {"lr": 0.009, "batch": 512, "schedule": "cosine", "decay": 0.01}),
    "filter-bank": (
        {"base": 16, "table": 16, "width": 64, "omega": 50.0, "sigma": 2.5},
        {"lr": 0.0003, "lr_encoding": 0.0003, "beta2": 0.99, "batch": 4096, "schedule": "cosine", "decay": 0.01},
    ),
    "diner": (
        {"activation": "sine", "width": 64, "omega": 30.0},
        {"batch": None, "lr": 0.0009, "lr_encoding": 0.0243, "schedule": "constant"},
    ),
    "octree": (
        {"levels": None, "cell": 2.0, "features": 4, "width": 64},
        {"lr": 0.081, "lr_encoding": 0.081, "batch": 4096, "schedule": "cosine", "decay": 0.01},
    ),
    "acorn": (
        {"tiles": 256, "every": 100, "patch": 8},
        {"lr": 0.00173, "lr_encoding": 0.00519, "batch": 4096, "schedule": "constant"},
    ),
}
# a table's gradient is as large as the table, so its batches are not cut into pieces
MICRO = {"octree": 8192, "acorn": 8192, "diner": 32768}
# The search has one core: with smaller batches two wait for each other too long (`benchmarks/methods.py --own`)
LEAST_BATCH = {"octree": 8192, "acorn": 8192, "mfn-gabor": 8192, "filter-bank": 8192}
USUAL_LEAST = 2048


def with_tuned(rows: Mapping[str, Method]) -> dict[str, Method]:
    """The methods with `default` as the search for a minute found it."""
    return {name: _tuned(name, row) if name in MINUTE else row for name, row in rows.items()}


def _tuned(name: str, row: Method) -> Method:
    options, recipe = MINUTE[name]
    changed = {"micro": MICRO[name]} if name in MICRO else {}
    if recipe["batch"] is not None:
        changed["batch"] = max(recipe["batch"], LEAST_BATCH.get(name, USUAL_LEAST))
    return replace(row, presets={**row.presets, "default": Preset(options, {**recipe, **changed})})
