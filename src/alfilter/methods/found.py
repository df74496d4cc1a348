"""What the study `tuning` found for every method, and the presets `default` made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from alfilter.methods.method import Density, Method, Preset, follow

AT = 96  # samples per axis of the picture it was found on
ELSEWHERE = ("al-sine", "siren", "pe-mlp")  # their `default` is for a minute at 512×512, from the study `wallclock`
RISING = ("omega", "sigma", "scale")  # frequencies across the domain
FALLING = {"gauss": ("sigma",)}  # and widths
_BATCH = 8192

Found = tuple[Mapping[str, Any], Mapping[str, Any]]
# options with AT samples per axis, training; `alfilter experiment tuning` prints them
FOUND: dict[str, Found] = {}


def found(name: str, samples: float) -> Found:
    """What the search found for a method, with so many samples seen per axis; nothing before it was run."""
    options, recipe = FOUND.get(name, ({}, {}))
    return {**options, **_follow(name, options)(Density(2, samples))[0]}, recipe


def with_found(rows: Mapping[str, Method]) -> dict[str, Method]:
    """The methods with `default` as the search found it, where it was run and is not governed by another one."""
    return {name: _tuned(name, row) if name in FOUND and name not in ELSEWHERE else row for name, row in rows.items()}


def _tuned(name: str, row: Method) -> Method:
    options, recipe = FOUND[name]
    # a table's gradient is as large as the table, so its batches are not cut into pieces
    micro = {"micro": _BATCH} if "lr_encoding" in recipe and name != "al-relu" else {}
    default = Preset(options, {"batch": _BATCH, **micro, **recipe}, adapt=_follow(name, options))
    return replace(row, presets={**row.presets, "default": default})


def _follow(name: str, options: Mapping[str, Any]) -> Any:
    falling = FALLING.get(name, ())
    down = {key: value for key, value in options.items() if key in falling}
    up = {key: value for key, value in options.items() if key in RISING and key not in falling}
    return follow(AT, up, down)
