"""What every figure depends on: processor, width of its vectors, threads, versions.

python benchmarks/machine.py
"""

from __future__ import annotations

import platform

import numba
import torch
from numba.core.registry import cpu_target

from alfilter.kernels.llvm import SHAPE
from alfilter.runtime.thread_pool import workers


def machine() -> str:
    """One line."""
    name = cpu_target.target_context.codegen().magic_tuple()[1]
    versions = f"torch {torch.__version__}, numba {numba.__version__}, Python {platform.python_version()}"
    return f"{name}, vectors of {32 * SHAPE.lanes} bits, {workers()} threads; {versions}"


if __name__ == "__main__":
    print(machine())
