"""e^x in single precision, written so that a loop over it runs on vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.jit import FAST, f4

_LOG2_E = f4(1.4426950408889634)
_LN2 = (f4(0.693145751953125), f4(1.4286068203094172e-06))  # ln 2 in two parts; the first has few bits
_SMALLEST, _LARGEST = f4(-87.0), f4(88.0)


@njit(inline="always", fastmath=FAST)
def exp(x: Any) -> Any:
    """e^x by 2^k e^r, |r| ≤ ln2/2; good to 2e-7 relative, 0 below e^-87, NaN kept."""
    low = x < _SMALLEST
    x = _SMALLEST if low else x
    x = _LARGEST if x > _LARGEST else x
    k = np.rint(x * _LOG2_E)
    r = (x - k * _LN2[0]) - k * _LN2[1]
    p = ((f4(1 / 5040) * r + f4(1 / 720)) * r + f4(1 / 120)) * r + f4(1 / 24)
    p = ((p * r + f4(1 / 6)) * r + f4(0.5)) * r + f4(1)
    p = p * r + f4(1)
    power = np.int32((np.int32(k) + np.int32(127)) << 23)
    return f4(0) if low else f4(p * np.int32(power).view(np.float32))
