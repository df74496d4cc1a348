"""The one way to fit: resolve → build → fit. The command, the estimator and every study go through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from alfilter.config import Density, Training
from alfilter.methods import Field, build
from alfilter.runs.request import Setting, resolve
from alfilter.tasks.base import Task
from alfilter.training import NotFinite as NotFinite
from alfilter.training import Result, fit
from alfilter.training.loop import make_optimiser
from alfilter.training.precompile import precompile


@dataclass(frozen=True)
class Fitted:
    """A trained field, what it was trained on, and how."""

    field: Field
    task: Task
    result: Result
    preset: str
    training: Training


@dataclass(frozen=True)
class PreparedFit:
    """A field that is built and not yet trained."""

    field: Field
    task: Task
    setting: Setting
    seed: int = 0

    def fit(self, **hooks: Any) -> Fitted:
        """Train the field. hooks: `checkpoint`, `on_progress`, `should_stop` … of `alfilter.fit`."""
        result = fit(self.field, self.task, training=self.setting.training, seed=self.seed, **hooks)
        return Fitted(self.field, self.task, result, self.setting.preset, self.setting.training)

    def compile(self) -> None:
        """Compile all kernels that the training calls; `fit` would do so as well, but cannot be interrupted there."""
        training = self.setting.training
        precompile(self.field, self.task, training, make_optimiser(self.field, training))


def prepare(task: Task, setting: Setting, *, seed: int = 0, device: torch.device | None = None) -> PreparedFit:
    """The field of a setting, built for a task."""
    field = build(
        setting.method,
        in_dim=task.in_dim,
        out_dim=task.out_dim,
        preset=setting.preset,
        samples=task.samples,
        seen=setting.density,
        seed=seed,
        **setting.options,
    )
    return PreparedFit(field.to(device), task, setting, seed)


def fit_task(
    task: Task,
    method: str,
    *,
    preset: str | None = "default",
    options: Mapping[str, Any] | None = None,
    params: int | None = None,
    training: Mapping[str, Any] | Training | None = None,
    density: Density | None = None,
    seed: int = 0,
    **hooks: Any,
) -> Fitted:
    """Fit a method to a task, in memory.

    preset, options, params, training, density: see `resolve`. seed: of the field's start and of the sampling. hooks:
    passed on to the training loop.

    >>> import numpy as np
    >>> from alfilter.signals import GridSignal
    >>> from alfilter.tasks import ImageTask
    >>> task = ImageTask(GridSignal(np.zeros((8, 8, 1), np.uint8)), observe="every:2")
    >>> fitted = fit_task(task, "al-sine", preset="paper", options={"width": 8, "depth": 1}, training={"steps": 2})
    >>> fitted.result.steps, fitted.training.tv_reduction
    (2, 'sum')
    """
    setting = resolve(task, method, preset=preset, options=options, params=params, training=training, density=density)
    return prepare(task, setting, seed=seed).fit(**hooks)
