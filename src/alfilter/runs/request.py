"""What a user asks for, and the complete setting that follows from it and from the signal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alfilter.config import Density, Training
from alfilter.methods import method, preset_for, sized
from alfilter.methods import training as preset_training
from alfilter.tasks.base import Task


@dataclass(frozen=True)
class FitRequest:
    """What a user asks for: the words of `alfilter fit`."""

    signal: str
    method: str = ""  # none: the one that suits the preset
    preset: str | None = None  # none: the one that suits the signal
    options: Mapping[str, Any] = field(default_factory=dict)
    params: int | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    observe: str = "all"
    coords: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    weight: str | None = None
    noise: str | None = None  # a table's column of standard deviations
    start: str | None = None  # a model to start from instead of random numbers
    out: str | None = None
    resume: bool = False
    overwrite: bool = False
    checkpoint_every: float = 30.0
    snapshots: int = 0  # how many moments of the training to keep as models
    device: str = "auto"
    command: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", suited_method(self.preset))

    def folder(self) -> Path:
        """Where the run goes: `out`, or a name made of the signal's and the method's."""
        file = Path(self.signal.removesuffix(".gz"))  # volume.nii.gz is a volume
        stem = self.signal.removeprefix("sample:") if self.signal.startswith("sample:") else file.stem
        return Path(self.out) if self.out is not None else Path("runs") / f"{stem}-{self.method}"


@dataclass(frozen=True)
class Setting:
    """A method with everything decided: what `build` and `fit` need beside the task.

    preset: by its full name, the variant for the kind of signal included. options: what differs from the preset's.
    density: how densely the signal is seen, which the preset's own options follow.
    """

    method: str
    preset: str
    options: Mapping[str, Any]
    training: Training
    density: Density | None


def resolve(
    task: Task,
    name: str,
    *,
    preset: str | None = "default",
    options: Mapping[str, Any] | None = None,
    params: int | None = None,
    training: Mapping[str, Any] | Training | None = None,
    density: Density | None = None,
) -> Setting:
    """The complete setting of a method for a task.

    preset: by name; none takes the one that suits the task. options: of the method, where they differ from the
    preset's. params: a number of parameters to size the method to. training: what differs from the preset's training,
    or a whole one that replaces it. density: in place of the task's own.
    """
    density = task.density() if density is None else density
    preset = preset_for(name, preset or suited_preset(name, task, params), task.describe()["kind"])
    changed = dict(options or {})
    if params is not None:
        changed = sized(name, params, task.in_dim, task.out_dim, task.samples, preset=preset, **changed)
    if not isinstance(training, Training):
        training = preset_training(name, preset, density, **(training or {}))
    return Setting(name, preset, changed, training, density)


def suited_method(preset: str | None = None) -> str:
    """The default method: al-grid, or al-sine for the paper's own presets.

    >>> suited_method(), suited_method("paper")
    ('al-grid', 'al-sine')
    """
    of_the_paper = preset is not None and preset.partition("-")[0] in ("paper", "source")
    return "al-sine" if of_the_paper else "al-grid"


def suited_preset(name: str, task: Task, params: int | None = None) -> str:
    """The preset for a task when none was named, where the method has it: `noisy` for uncertain samples, `reconstruct`
    for a signal with gaps, `small` for a picture with fewer parameters than values.
    """
    is_picture = task.describe()["kind"] == "image" and task.samples is not None
    few = is_picture and params is not None and params < math.prod(task.samples or ()) * task.out_dim
    suited = {"noisy": task.has_noise, "reconstruct": task.has_gaps, "small": few}
    return next((preset for preset, suits in suited.items() if suits and preset in method(name).presets), "default")
