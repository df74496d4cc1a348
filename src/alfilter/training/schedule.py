"""How the learning rates fall: pure functions of where the run stands."""

from __future__ import annotations

import math

from alfilter.config import Training

_RISE = 0.02  # share of the run over which the rates rise when an optimiser without memory takes over


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
