"""What every figure depends on: processor, width of its vectors, threads, versions; and how to have less of it.

python benchmarks/machine.py [--avx2]
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys

import llvmlite.binding as llvm
import numba
import torch
from numba.core.registry import cpu_target

from alfilter.config import Training
from alfilter.kernels.llvm import SHAPE
from alfilter.methods import Field
from alfilter.runtime.distributed import Processes
from alfilter.runtime.limits import processor_name
from alfilter.runtime.thread_pool import workers
from alfilter.tasks.base import Task
from alfilter.training.adam import Adam
from alfilter.training.preparation import prepare

_WIDER = re.compile(r"avx512|evex512|avx10|amx")  # features of vectors, and tiles, beyond AVX2


def machine() -> str:
    """One line."""
    name = cpu_target.target_context.codegen().magic_tuple()[1]
    versions = f"torch {torch.__version__}, numba {numba.__version__}, Python {platform.python_version()}"
    held = os.environ.get("MKL_ENABLE_INSTRUCTIONS")
    library = f"{blas()}{f' held to {held}' if held else ''}"
    return (
        f"{processor_name()} ({name}), vectors of {32 * SHAPE.lanes} bits, {workers()} threads; {library}; {versions}"
    )


def blas() -> str:
    """The library of matrix products that torch calls."""
    found = re.search(r"(?i)math kernel library version ([\d.]+)", torch.__config__.show())
    return f"MKL {found[1]}" if found else re.search(r"BLAS_INFO=(\w+)|$", torch.__config__.show())[1] or "no BLAS"  # type: ignore[index]


def add_avx2(parser: argparse.ArgumentParser) -> None:
    """The flag with which all code here, the library's and ours, is held to AVX2."""
    parser.add_argument("--avx2", action="store_true", help="hold MKL, torch and our kernels to AVX2 alike")


def hold_to_avx2() -> None:
    """Start this program again with nothing wider than AVX2; the libraries read these variables as they load."""
    features = {name: on and not _WIDER.search(name) for name, on in llvm.get_host_cpu_features().items()}
    setting = {
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "NUMBA_CPU_NAME": llvm.get_host_cpu_name(),
        "NUMBA_CPU_FEATURES": ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items())),
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    }
    if any(os.environ.get(name) != value for name, value in setting.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **setting})


def fit_way(field: Field, task: Task, setting: Training, optimiser: Adam) -> str:
    """How `fit` would compute this field on this machine; its kernels are compiled."""
    return prepare(field, task, setting, optimiser, Processes())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="what figures depend on")
    add_avx2(parser)
    if parser.parse_args().avx2:
        hold_to_avx2()
    print(machine())
