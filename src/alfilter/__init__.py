"""alfilter: neural fields whose local frequency content can be seen and steered.

    import alfilter as al

    task = al.ImageTask.from_file("photo.png")
    field = al.build("al-grid", in_dim=2, out_dim=3, preset="default", samples=task.samples)
    al.fit(field, task, steps=1000)
    al.save(field, "photo.safetensors")

The names below load on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alfilter.analysis import local_frequency as local_frequency
    from alfilter.config import Training as Training
    from alfilter.errors import UserError as UserError
    from alfilter.estimator import ALFilterRegressor as ALFilterRegressor
    from alfilter.methods import METHODS as METHODS
    from alfilter.methods import Field as Field
    from alfilter.methods import build as build
    from alfilter.methods import register as register
    from alfilter.runs.models import load as load
    from alfilter.tasks import AudioTask as AudioTask
    from alfilter.tasks import ImageTask as ImageTask
    from alfilter.tasks import LightFieldTask as LightFieldTask
    from alfilter.tasks import PointTask as PointTask
    from alfilter.tasks import SdfTask as SdfTask
    from alfilter.tasks import VideoTask as VideoTask
    from alfilter.tasks import VolumeTask as VolumeTask
    from alfilter.training import fit as fit
    from alfilter.training import save as save

__version__ = "0.1.0"

_HOMES = {
    "analysis": ("local_frequency",),
    "config": ("Training",),
    "errors": ("UserError",),
    "estimator": ("ALFilterRegressor",),
    "methods": ("METHODS", "Field", "build", "register"),
    "tasks": ("AudioTask", "ImageTask", "LightFieldTask", "PointTask", "SdfTask", "VideoTask", "VolumeTask"),
    "runs.models": ("load",),
    "training": ("fit", "save"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME]


if not TYPE_CHECKING:  # a type checker would let any name pass

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'alfilter' has no attribute {name!r}")
        value = getattr(import_module(f"alfilter.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
