"""One-pass CPU kernel of Adam's update, which in tensor operations reads and writes everything seven times.

For a table with one row per sample the update takes as long as the network. Arithmetic is exact, without `FAST`: an
update must not depend on whether a number stands in a vector or in the rest of a slice, as slices follow the threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.jit import f4, kernel

_BLOCK = 1024  # numbers in the first cache between two passes
_TINY = f4(1e-37)  # smaller numbers are close to the denormal ones, on which a processor is many times slower


@njit(inline="always", error_model="numpy")
def _update_number(
    i: int, g: Any, p: Any, mean: Any, square: Any, gain1: Any, beta2: Any, gain2: Any, correction: Any, epsilon: Any,
    rate: Any, keep: Any,
) -> None:  # fmt: skip
    m = mean[i] + (g - mean[i]) * gain1
    v = square[i] * beta2 + g * g * gain2
    m = f4(0) if abs(m) < _TINY else m
    v = f4(0) if v < _TINY else v
    mean[i] = m
    square[i] = v
    p[i] = p[i] * keep - rate * m / (np.sqrt(v) / correction + epsilon)


@kernel(error_model="numpy")
def adam_update(
    p: Any, g: Any, mean: Any, square: Any, gain1: Any, beta2: Any, gain2: Any, correction: Any, epsilon: Any,
    rate: Any, keep: Any,
) -> None:  # fmt: skip
    """m += (g-m) gain1, v ← β₂v + (1-β₂)g², p ← keep·p - rate·m / (√v/correction + ε); all flat, in place.

    gain1, gain2: 1-β₁, 1-β₂. The moments of rows that no sample touches decay; below 1e-37 they become zero.
    """
    for i in range(len(p)):
        _update_number(i, g[i], p, mean, square, gain1, beta2, gain2, correction, epsilon, rate, keep)


@njit(nogil=True)
def _move(source: Any, target: Any) -> None:
    """Add numbers to others and leave zeros in their place."""
    for i in range(len(source)):
        target[i] += source[i]
        source[i] = f4(0)


@njit(nogil=True, error_model="numpy")
def _update_block(
    p: Any, a: Any, b: Any, mean: Any, square: Any, gain1: Any, beta2: Any, gain2: Any, correction: Any, epsilon: Any,
    rate: Any, keep: Any,
) -> None:  # fmt: skip
    """`adam_update` with the gradient a + b, which both become zero."""
    for i in range(len(p)):
        g = a[i] + b[i]
        a[i] = f4(0)
        b[i] = f4(0)
        _update_number(i, g, p, mean, square, gain1, beta2, gain2, correction, epsilon, rate, keep)


@kernel()
def adam_update_sums(
    p: Any, sums: Any, first: int, mean: Any, square: Any, gain1: Any, beta2: Any, gain2: Any, correction: Any,
    epsilon: Any, rate: Any, keep: Any,
) -> None:  # fmt: skip
    """`adam_update` with the gradient Σ_w sums[w, first …] of several workers; it leaves zeros in their place.

    sums: (workers, total). In one sweep over memory, block by block.
    """
    last, zeros = len(sums) - 1, np.zeros(_BLOCK, np.float32)
    for begin in range(0, len(p), _BLOCK):
        end = min(begin + _BLOCK, len(p))
        low, high = first + begin, first + end
        for w in range(1, last):
            _move(sums[w, low:high], sums[0, low:high])
        _update_block(
            p[begin:end], sums[0, low:high], sums[last, low:high] if last > 0 else zeros[: end - begin],
            mean[begin:end], square[begin:end], gain1, beta2, gain2, correction, epsilon, rate, keep,
        )  # fmt: skip
