"""Kernels for tests: a missing one is compiled once for all workers, by a process that does nothing else.

Compiling takes such a process less than half the time, and of a suite's time on an empty cache compiling is the most.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
        if self._left == 0:
            self.close()
            command = [sys.executable, "-P", "-m", "alfilter.kernels.compile"]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._process, self._left = subprocess.Popen(command, env=ENVIRONMENT, **pipes), MOST
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            pickle.dump(call, self._process.stdin)
            self._process.stdin.flush()
            self._left = self._left - 1 if self._process.stdout.read(1) else 0

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
        from alfilter.kernels.compile import Call, cache_lock
    except ImportError:  # no numba, no kernels
        yield
        return
    folder, load, compiler, owner = cache_folder(), KernelCache.load_overload, Compiler(), os.getpid()

    def load_or_compile(self: KernelCache, signature: Any, context: Any) -> Any:
        path = self.path(signature)
        if path is not None and path.parent == folder and not path.exists() and os.getpid() == owner:
            module, _, name = self._name.partition(".")
            with cache_lock(f".{path.name}"):
                if not path.exists():  # no other worker was faster
                    compiler.compile(Call(f"alfilter.kernels.{module}", name, signature))
        return load(self, signature, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelCache, "load_overload", load_or_compile)
        patch.setattr("alfilter.runtime.compilation.workers", lambda: 0)
        yield
    compiler.close()
