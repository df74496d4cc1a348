"""CPU kernels of the filter on a grid's levels: f'_j = H_j(α) f_j, and the gradients of the table and of α.

Plain: `core.level_filter`. The response scales the weights of a point's corners, so values and gradients of the table
pass through the same code as without a filter. One exponential per point and level, by a polynomial that the
compiler turns into vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.grid_lookup import Levels, add_levels, corner_buffers, read_levels
from alfilter.kernels.jit import FAST, f4, kernel

_LOG2_E, _LN_2 = f4(1.44269504), (f4(0.693359375), f4(-2.12194440e-4))  # ln 2 in two parts
_EXP = (f4(1.9875691500e-4), f4(1.3981999507e-3), f4(8.3334519073e-3), f4(4.1665795894e-2), f4(1.6666665459e-1))
_STEEPEST = f4(87.0)  # beyond, e^x leaves the range of a float


@njit(inline="always", fastmath=FAST)
def _exp(x: Any) -> Any:
    """e^x for |x| ≤ 87: 2^n times a polynomial in the rest (Cephes). Good to 2e-7."""
    n = np.rint(x * _LOG2_E)
    r = x - n * _LN_2[0]
    r = r - n * _LN_2[1]
    p = ((((_EXP[0] * r + _EXP[1]) * r + _EXP[2]) * r + _EXP[3]) * r + _EXP[4]) * r + f4(0.5)
    p = p * r * r + r + f4(1)
    return p * np.int32((np.int32(n) + np.int32(127)) << 23).view(np.float32)


@njit(fastmath=FAST, nogil=True, error_model="numpy")
def respond(alpha: Any, edges: Any, kappa: Any, response: Any) -> None:
    """response (L, ≥m) = H with H_ji = σ(κ(α_i - e_j)). alpha: (m,). edges: (L,)."""
    for j in range(len(edges)):
        edge, own = edges[j], response[j]
        for i in range(len(alpha)):
            z = kappa * (edge - alpha[i])
            own[i] = f4(1) / (f4(1) + _exp(min(max(z, -_STEEPEST), _STEEPEST))) + (z - z)  # NaN stays NaN


@njit(fastmath=FAST, nogil=True)
def alpha_gradient(
    filtered: Any, grad: Any, skip: int, features: int, kappa: Any, response: Any, first: int, out: Any
) -> None:
    """out (m,) = κ Σ_j (1-H_j) ⟨f'_j, grad_j⟩: the gradient of α from that of the filtered features.

    filtered, grad: (m, s + L F …). response: H (L, …), of these points from column `first` on.
    """
    for i in range(len(out)):
        total = f4(0)
        for j in range(len(response)):
            inner, column = f4(0), skip + j * features
            for k in range(column, column + features):
                inner += filtered[i, k] * grad[i, k]
            total += (f4(1) - response[j, first + i]) * inner
        out[i] = kappa * total


@kernel(fastmath=FAST)
def filtered_forward(
    x: Any, levels: Levels, alpha: Any, edges: Any, kappa: Any, table: Any, skip: int, out: Any
) -> None:
    """out (n, s + L F), from column s on = H_j(α_i) times the features of `lookup_forward`. alpha: (n,)."""
    response = np.empty((len(edges), len(alpha)), f4)
    respond(alpha, edges, kappa, response)
    read_levels(x, 0, levels, response, table, skip, out, corner_buffers(len(x)))


@kernel(fastmath=FAST)
def filtered_backward(
    x: Any, levels: Levels, alpha: Any, edges: Any, kappa: Any, filtered: Any, grad: Any, skip: int, by_table: Any,
    by_alpha: Any,
) -> None:  # fmt: skip
    """by_table (R, F) += and by_alpha (n,) = the gradients of `filtered_forward`, whose values are `filtered`."""
    response = np.empty((len(edges), len(alpha)), f4)
    respond(alpha, edges, kappa, response)
    alpha_gradient(filtered, grad, skip, by_table.shape[1], kappa, response, 0, by_alpha)
    add_levels(x, 0, levels, response, grad, skip, by_table, corner_buffers(len(x)))
