"""What every kernel is compiled with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core.compiler import Compiler

from alfilter.kernels.cache import KernelCache
from alfilter.kernels.llvm import whole_vectors

f4 = np.float32
# Contraction to fused multiply-adds is allowed; reassociation and finite-only arithmetic are not, since a NaN must
# reach the loss and sums must not depend on the compiler's choices.
FAST = {"contract", "nsz", "arcp"}


class _KernelCompiler(Compiler):
    """numba's, for the whole width of vectors: in every process that compiles, as all fill the same cache."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        with whole_vectors():
            return super().compile_extra(func)  # type: ignore[no-untyped-call]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that ops call: without the interpreter's lock, and kept in this package's own cache.

    options: those of `numba.njit`. What kernels call among themselves is an `njit` without a cache: it becomes part of
    the kernels.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = njit(nogil=True, pipeline_class=_KernelCompiler, **options)(function)
        dispatcher._cache = KernelCache(function)  # as `cache=True` would set numba's own
        return dispatcher

    return compiled
