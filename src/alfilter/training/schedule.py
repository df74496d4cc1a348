"""How the learning rates fall: pure functions of where the run stands."""

from __future__ import annotations

import math

from alfilter.config import Training


def rate_factor(setting: Training, step: int, progress: float) -> float:
    """What both learning rates are multiplied with at a step.

    step: optimiser steps done. progress: share of the run that is over, in [0, 1] (of its steps, or of its budget).

    step schedule: decay^⌊step/every⌋, the paper's. cosine: from 1 down to `decay` along half a cosine.

    >>> rate_factor(Training(), step=1250, progress=0.25)
    0.6
    """
    if setting.schedule == "step":
        return float(setting.decay ** (step // setting.every))
    if setting.schedule == "cosine":
        return setting.decay + (1 - setting.decay) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    return 1.0
