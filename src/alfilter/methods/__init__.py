"""Systems that turn coordinates into values: METHODS, one row per system, and `build`, which makes a field of one."""

from __future__ import annotations

from alfilter.config import Density
from alfilter.methods.field import Field, parameter_count
from alfilter.methods.method import Method, Preset, Samples
from alfilter.methods.sizing import cost_per_point, sized
from alfilter.methods.table import METHODS, build, method, preset, preset_for, register, training

__all__ = [
    "METHODS",
    "Density",
    "Field",
    "Method",
    "Preset",
    "Samples",
    "build",
    "cost_per_point",
    "method",
    "parameter_count",
    "preset",
    "preset_for",
    "register",
    "sized",
    "training",
]
