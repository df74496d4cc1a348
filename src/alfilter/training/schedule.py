"""How the learning rates fall: pure functions of its progress."""

from __future__ import annotations

import math

from alfilter.config import Training

_RISE = 0.02  # share of the run over which the rates rise when an optimiser without memory takes over


def is_settled(setting: Training, progress: float) -> bool:
    """Whether α has found its place, so that from here on the features alone are learned.

    α is shared by many samples: near the end of a run its small moves disturb all of them.

    >>> is_settled(Training(settle=0.5), 0.4), is_settled(Training(settle=0.5), 0.5), is_settled(Training(), 1.0)
    (False, True, False)
    """
    return setting.settle < 1 and progress >= setting.settle


def rate_factor(setting: Training, step: int, progress: float, restarted: bool = False) -> float:
    """What both learning rates are multiplied with at a step.

    step: optimiser steps done. progress: share of the run that is over, in [0, 1] (of its steps, or of its budget).

    restarted: the field was trained before, so the rates rise from zero at first.

    step schedule: decay^⌊step/every⌋, the paper's. cosine: from 1 down to `decay` along half a cosine.

    >>> rate_factor(Training(), step=1250, progress=0.25)
    0.6
    """
    rising = min(1.0, (progress + 1e-3) / _RISE) if restarted else 1.0  # the first step already moves a little
    if setting.schedule == "step":
        return rising * float(setting.decay ** (step // setting.every))
    if setting.schedule == "cosine":
        return rising * (setting.decay + (1 - setting.decay) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2)
    return rising
