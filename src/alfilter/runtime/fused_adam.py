"""Adam's update in one compiled sweep over memory, on all cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from alfilter.kernels.dispatch import can_use_kernels, load_kernels
from alfilter.runtime.thread_pool import for_slices

_SWEEP_WORTH_SHARING = 1 << 18  # numbers: adding up and zeroing gradients, too, an update is worth waking a thread for


def can_fuse(p: Tensor) -> bool:
    """Whether `fused_update` may run: contiguous numbers, as the moments' are then, that kernels can use."""
    there = p.grad is None or p.grad.is_contiguous()
    return p.is_contiguous() and there and can_use_kernels(p if p.dim() > 1 else p.view(1, -1))


def fused_update(arrays: Sequence[NDArray[np.float32]], numbers: Sequence[float], sums: Tensor | None = None) -> None:
    """`kernels.adam.adam_update` in place; of many numbers on all cores, which each take a slice of them.

    arrays: parameters, gradient, mean and square, flat. numbers: 1-β₁, β₂, 1-β₂, correction, ε, rate, keep. sums:
    (workers, total), see `Adam.step`.
    """
    constants = [np.float32(number) for number in numbers]
    kernels = load_kernels("adam")
    if sums is None:
        for_slices(lambda part: kernels.adam_update(*(array[part] for array in arrays), *constants), len(arrays[0]))
        return
    (p, grad, mean, square), rows = arrays, sums.numpy()
    first = (grad.ctypes.data - sums.data_ptr()) // sums.element_size()

    def sweep(part: slice) -> None:
        slices = p[part], rows, first + part.start, mean[part], square[part]
        kernels.adam_update_sums(*slices, *constants)

    for_slices(sweep, len(p), _SWEEP_WORTH_SHARING)
