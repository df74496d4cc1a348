"""One-pass CPU kernel of Adam's update, which in tensor operations reads and writes everything seven times.

For tables with a row per sample the update is as large a part of a step as the network.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.elementwise import FAST, f4

_TINY = f4(1e-37)  # smaller numbers are close to the denormal ones, on which a processor is many times slower


@njit(fastmath=FAST, cache=True, nogil=True, error_model="numpy")
def adam_update(
    p: Any,
    g: Any,
    mean: Any,
    square: Any,
    gain1: Any,
    beta2: Any,
    gain2: Any,
    fade: Any,
    epsilon: Any,
    rate: Any,
    keep: Any,
) -> None:
    """m += (g-m) gain1, v ← β₂v + (1-β₂)g², p ← keep·p - rate·m / (√v/fade + ε); all flat, in place.

    gain1, gain2: 1-β₁, 1-β₂. Rows that are not seen let their moments fade; below 1e-37 they are zero.
    """
    for i in range(len(p)):
        m = mean[i] + (g[i] - mean[i]) * gain1
        v = square[i] * beta2 + g[i] * g[i] * gain2
        m = f4(0) if abs(m) < _TINY else m
        v = f4(0) if v < _TINY else v
        mean[i] = m
        square[i] = v
        p[i] = p[i] * keep - rate * m / (np.sqrt(v) / fade + epsilon)
