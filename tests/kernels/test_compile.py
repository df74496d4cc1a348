"""Compiling in processes of their own: kernels come out of the cache, and compute what they should."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.kernels.test_cache import MESSAGE, SOURCE, call_in
from tests.support.compiling import Compiler

from alfilter.kernels.compile import Call, Compilers
from alfilter.kernels.llvm import AVX512, SHAPE

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


class Started:
    """A process that has compiled what it is asked for."""

    def __init__(self, command: list[str], env: dict[str, str], **pipes: Any) -> None:
        started.append((command, pipes))
        self.stdin, self.stdout = BytesIO(), BytesIO(b".")

    def kill(self) -> None: ...

    def communicate(self) -> None: ...


started: list[tuple[list[str], dict[str, Any]]] = []


def test_fits_and_tests_start_the_same_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they compile goes into the same folder."""
    monkeypatch.setattr(subprocess, "Popen", Started)
    started.clear()
    with Compilers(1):
        pass
    Compiler().compile(Call("alfilter.kernels.activations", "relu_forward", ()))
    assert started[0] == started[1]
    assert len(started) == 2


ASSEMBLY = """
from contextlib import nullcontext
from numba import f4, njit
from alfilter.kernels.activations import gauss_forward
from alfilter.kernels.compile import _optimised_once
from alfilter.kernels.jit import FAST
types = f4[:, ::1], f4[::1], f4, f4, f4[:, ::1]
def width(function):
    (text,) = function.inspect_asm().values()
    return text.count("zmm"), text.count("ymm")
with {context}:
    gauss_forward.compile(types)
usual = njit(gauss_forward.py_func, fastmath=FAST)
usual.compile(types)
print(*width(gauss_forward), *width(usual))
"""


@pytest.mark.skipif(SHAPE != AVX512, reason="a processor with AVX-512")
@pytest.mark.parametrize("context", ["nullcontext()", "_optimised_once(gauss_forward)"])
def test_loops_are_as_wide_as_the_processor_wherever_they_are_compiled(context: str, tmp_path: Path) -> None:
    """LLVM leaves half of a vector of 512 bits unused on some processors, unless told otherwise: in kernels alone."""
    script, processor = ASSEMBLY.format(context=context), "skylake-avx512"
    out, _ = call_in(SOURCE.parent, script, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_NAME=processor)
    whole, half, usual_whole, usual_half = map(int, out.split())
    assert whole > 4 * half
    assert usual_half > 4 * usual_whole
