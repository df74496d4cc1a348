"""Kernels for tests: a missing one is compiled once for all workers, by a process that does nothing else.

Compiling takes such a process less than half the time, and of a suite's time on an empty cache compiling is the most.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT = dict(os.environ)  # before a test changes it
MOST = 12  # kernels of one process, whose memory grows: it collects no garbage


class Compiler:
    """A process of `alfilter.kernels.compile`, started for the first kernel and replaced after some."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._left = 0

    def compile(self, call: Any) -> None:
        """Into the cache; if the process cannot, the caller will."""
        from alfilter.kernels.compile import compile_in, start_compiler

        if self._process is None or self._left == 0:
            self.close()
            self._process, self._left = start_compiler(ENVIRONMENT), MOST
        self._left = self._left - 1 if compile_in(self._process, call) else 0

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def compiled_once() -> Iterator[None]:
    """Inside, a kernel that the cache lacks is compiled elsewhere; a fit starts no processes to compile with."""
    try:
        from alfilter.kernels.cache import KernelCache, cache_folder
        from alfilter.kernels.compile import Call
    except ImportError:  # no numba, no kernels
        yield
        return
    folder, load, compiler, owner = cache_folder(), KernelCache.load_overload, Compiler(), os.getpid()

    def load_or_compile(self: KernelCache, signature: Any, context: Any) -> Any:
        path = self.path(signature)
        if path is not None and path.parent == folder and not path.exists() and os.getpid() == owner:
            module, _, name = self._name.partition(".")
            with kernel_lock(path):
                if not path.exists():  # no other worker was faster
                    compiler.compile(Call(f"alfilter.kernels.{module}", name, signature))
        return load(self, signature, context)

    with closing(compiler), pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelCache, "load_overload", load_or_compile)
        patch.setattr("alfilter.runtime.compilation.workers", lambda: 0)
        yield


@contextmanager
def kernel_lock(path: Path) -> Iterator[None]:
    """Workers that lack the same kernel compile one after the other: a byte of one file stands for a kernel."""
    with ExitStack() as stack:
        with suppress(OSError, ImportError):  # Windows has no such lock, and some file systems
            import fcntl

            file = stack.enter_context((path.parent / ".tests").open("w"))
            fcntl.lockf(file, fcntl.LOCK_EX, 1, int(path.name[-7:], 16))
        yield
