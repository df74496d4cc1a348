"""Compiling in processes of their own: kernels come out of the cache, and compute what they should."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from numba.core.registry import cpu_target
from tests.kernels.test_cache import MESSAGE, SOURCE, call_in

from alfilter.kernels.llvm import AVX512, SHAPE, WHOLE_VECTORS

SCRIPT = """
import numpy as np
from alfilter.kernels.activations import relu_forward
from alfilter.kernels.adam import adam_update_sums
from alfilter.kernels.compile import Call, Compilers
z, bias = np.array([[-1, 2]], np.float32), np.ones(2, np.float32)
p, sums, mean, square = np.ones(2, np.float32), np.ones((2, 2), np.float32), *np.zeros((2, 2), np.float32)
update = p, sums, 0, mean, square, *map(np.float32, (0.1, 0.999, 0.001, 1, 1e-8, 0.1, 1))
calls = [Call.of(relu_forward, (z, bias)), Call.of(adam_update_sums, update)]
print([call.is_ready() for call in calls])
with Compilers(2) as compilers:
    compilers.compile(calls)
print([call.is_ready() for call in calls], [len(call.function().stats.cache_misses) for call in calls])
relu_forward(z, bias)
adam_update_sums(*update)  # calls another kernel
print(z.tolist(), sums.tolist(), [round(float(m), 3) for m in mean])
"""


def test_kernels_are_compiled_elsewhere_and_said_once(tmp_path: Path) -> None:
    out, message = call_in(SOURCE.parent, SCRIPT, NUMBA_CACHE_DIR=str(tmp_path))
    assert message == MESSAGE
    assert out.splitlines() == [
        "[False, False]",
        "[True, True] [0, 0]",
        "[[0.0, 3.0]] [[0.0, 0.0], [0.0, 0.0]] [0.2, 0.2]",
    ]
    assert call_in(SOURCE.parent, SCRIPT, NUMBA_CACHE_DIR=str(tmp_path))[1] == ""


def test_runs_that_start_together_compile_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(call_in, SOURCE.parent, SCRIPT, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [run.result()[0].splitlines()[1] for run in runs] == ["[True, True] [0, 0]"] * 2


def test_without_another_thread_this_process_compiles(tmp_path: Path) -> None:
    none = 'import threading\ndef start(thread): raise RuntimeError("can\'t start new thread")\n'
    script = none + SCRIPT.replace("with Compilers", "threading.Thread.start = start\nwith Compilers")
    out, message = call_in(SOURCE.parent, script, NUMBA_CACHE_DIR=str(tmp_path))
    assert message == MESSAGE
    assert out.splitlines()[1:] == ["[True, True] [1, 1]", "[[0.0, 3.0]] [[0.0, 0.0], [0.0, 0.0]] [0.2, 0.2]"]


STOPPED = """
import os, signal, threading
def stop(*received): raise KeyboardInterrupt
signal.signal(signal.SIGTERM, stop)
try:
    with Compilers(1) as compilers:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        compilers.compile(calls)
except KeyboardInterrupt:
    print([call.is_ready() for call in calls])
"""


def test_a_signal_ends_it_before_all_is_compiled(tmp_path: Path) -> None:
    script = SCRIPT.split("with Compilers")[0] + STOPPED
    out, _ = call_in(SOURCE.parent, script, NUMBA_CACHE_DIR=str(tmp_path))
    assert out.splitlines() == ["[False, False]", "[False, False]"]


WIDE = """
import os
from numba.core.registry import cpu_target
from alfilter.kernels.cache import cache_key
from alfilter.kernels.compile import Compilers
from alfilter.kernels.llvm import WHOLE_VECTORS
import subprocess
started = {}
class Started:
    def __init__(self, command, env, **pipes): started.update(env)
    def kill(self): ...
    def communicate(self): ...
subprocess.Popen = Started
with Compilers(1): ...
features = started["NUMBA_CPU_FEATURES"]
print(cache_key(), features.endswith(WHOLE_VECTORS), features.count("prefer-256-bit"))
"""


def test_processes_that_compile_use_whole_vectors_and_fill_the_same_folder(tmp_path: Path) -> None:
    """LLVM leaves half of a vector of 512 bits unused on some processors, unless told otherwise."""
    out, _ = call_in(SOURCE.parent, WIDE, NUMBA_CACHE_DIR=str(tmp_path))
    features = call_in(SOURCE.parent, WIDE.replace("cache_key(), ", "features, "), NUMBA_CACHE_DIR=str(tmp_path))[0]
    again, _ = call_in(SOURCE.parent, WIDE, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_FEATURES=features.split()[0])
    assert out == again
    assert out.endswith("True 1" if "+avx512f" in features else "True 0")


ASSEMBLY = """
from numba import f4, void
from alfilter.kernels.activations import gauss_forward
gauss_forward.compile((f4[:, ::1], f4[::1], f4, f4, f4[:, ::1]))
(text,) = gauss_forward.inspect_asm().values()
print(text.count("zmm"), text.count("ymm"))
"""


@pytest.mark.skipif(SHAPE != AVX512, reason="a processor with AVX-512")
def test_loops_are_as_wide_as_the_processor(tmp_path: Path) -> None:
    features = cpu_target.target_context.codegen().magic_tuple()[2] + WHOLE_VECTORS
    out, _ = call_in(SOURCE.parent, ASSEMBLY, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_FEATURES=features)
    whole, half = map(int, out.split())
    assert whole > 4 * half
