"""The operator of `inpainting.grid`: weighted second differences along every offset, and their adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from alfilter.kernels.jit import FAST, f4, kernel


@kernel(fastmath=FAST)
def bending(values: Any, strides: Any, weights: Any, out: Any) -> None:
    """out = Σ_h D_hᵀ W_h D_h v with (D_h v)_i = v_{i+s} - 2 v_i + v_{i-s}.

    values, out: (n,). strides: (k,) int64, s > 0. weights: (k, n), zero wherever i ± s is off the grid.
    """
    count = len(values)
    difference = np.empty(count, np.float32)
    out[:] = f4(0)
    for k in range(len(strides)):
        s = strides[k]
        difference[:s] = f4(0)
        difference[count - s :] = f4(0)
        for i in range(s, count - s):
            difference[i] = weights[k, i] * (values[i + s] + values[i - s] - f4(2) * values[i])
        for i in range(s, count - s):
            out[i] += difference[i + s] + difference[i - s] - f4(2) * difference[i]
        for i in range(s):
            out[i] += difference[i + s]
            out[count - 1 - i] += difference[count - 1 - i - s]
