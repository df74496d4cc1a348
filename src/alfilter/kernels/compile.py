"""Fill the cache with kernels before they are called: in processes of their own, one per core.

numba compiles one function at a time per process, and optimises what a function calls once for itself and again in
every caller. The processes here only compile, so they leave all optimisation to the kernel at the end, in less than
half the time.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

from numba.core import codegen
from numba.core import dispatcher as dispatchers
from numba.core.registry import cpu_target
from numba.core.runtime import nrt

from alfilter.kernels.cache import KernelCache, announce, cache_folder

dispatcher: Any = dispatchers
Function = Any  # a compiled function, as numba's dispatcher


class Call(NamedTuple):
    """A kernel and the types of its arguments."""

    module: str
    name: str
    signature: tuple[Any, ...]

    @classmethod
    def of(cls, function: Function, arguments: Sequence[Any]) -> Call:
        """What calling a kernel with these arguments would compile."""
        types = tuple(function.typeof_pyval(argument) for argument in arguments)
        return cls(function.py_func.__module__, function.py_func.__name__, types)

    def function(self) -> Function:
        return getattr(import_module(self.module), self.name)

    def is_ready(self) -> bool:
        """Whether it is compiled, here or in the cache."""
        function = self.function()
        path = function._cache.path(self.signature)
        return self.signature in function.overloads or (path is not None and path.exists())


def is_kernel(value: Any) -> bool:
    """Whether something is a kernel: compiled, with a cache of ours."""
    return isinstance(value, dispatcher.Dispatcher) and isinstance(value._cache, KernelCache)


def compile_calls(calls: Sequence[Call], processes: int) -> None:
    """Compile what is missing, the first ones first; without a cache, or where no process starts, in this one."""
    missing = [call for call in dict.fromkeys(calls) if not call.is_ready()]
    if not missing:
        return
    announce()
    if cache_folder() is not None:
        with _lock():
            _compile_in_processes([call for call in missing if not call.is_ready()], processes)
    for call in missing:
        call.function().compile(call.signature)  # loads it


@contextmanager
def _lock() -> Iterator[None]:
    """Runs that start at the same time compile one after the other: the second finds everything in the cache."""
    folder = cache_folder()
    assert folder is not None
    stack = ExitStack()
    with suppress(OSError, ImportError):  # Windows has no such lock, and some file systems
        import fcntl

        fcntl.flock(stack.enter_context((folder / ".lock").open("w")), fcntl.LOCK_EX)
    try:
        yield
    finally:
        stack.close()


def _compile_in_processes(calls: Sequence[Call], processes: int) -> None:
    if not calls:  # another run has compiled them meanwhile
        return
    waiting = iter(calls)  # every process takes the next when it is ready

    def drive(_: int) -> None:
        command = [sys.executable, "-P", "-m", "alfilter.kernels.compile"]
        with (
            suppress(OSError, EOFError),  # it did not start or died: this process compiles what is left
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as other,
        ):
            assert other.stdin is not None
            assert other.stdout is not None
            for call in waiting:
                pickle.dump(call, other.stdin)
                other.stdin.flush()
                if not other.stdout.read(1):
                    return

    count = max(1, min(processes, len(calls)))  # another run may have compiled them all meanwhile
    with suppress(RuntimeError), ThreadPoolExecutor(count) as pool:  # no more threads: this process compiles
        list(pool.map(drive, range(count)))


def main() -> None:
    """Compile what comes on standard input, one call after the other, and answer each with a byte."""
    cpu_target.target_context.refresh()
    nrt.rtsys.initialize(cpu_target.target_context)
    with suppress(EOFError):
        while True:
            call: Call = pickle.load(sys.stdin.buffer)
            function = call.function()
            with _optimised_once(function):
                function.compile(call.signature)
            sys.stdout.buffer.write(b".")
            sys.stdout.buffer.flush()


@contextmanager
def _optimised_once(function: Function) -> Iterator[None]:
    """Inside, only `function` becomes machine code; what it calls is linked into it as it was generated.

    Functions compiled here as callees cannot be called from Python, which is why this is for processes that only
    compile.
    """
    library: Any = codegen.JITCodeLibrary
    compiler: Any = dispatcher._FunctionCompiler
    cpu: Any = codegen.JITCPUCodegen
    name = function.py_func.__qualname__
    before = {
        (owner, method): getattr(owner, method)
        for owner, method in (
            (library, "finalize"),
            (library, "get_pointer_to_function"),
            (library, "_optimize_functions"),
            (compiler, "_customize_flags"),
            (cpu, "set_env"),
            (KernelCache, "load_overload"),
            (KernelCache, "save_overload"),
        )
    }
    address, save = before[library, "get_pointer_to_function"], before[KernelCache, "save_overload"]

    def finalize(self: Any) -> None:
        if self.name != name:
            self._finalized = True
            return
        for linked in _all_linked(self):
            self._reload_init.update(linked._reload_init)
            self._final_module.link_in(linked._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    def customize_flags(self: Any, flags: Any) -> Any:
        flags.no_cfunc_wrapper = True
        flags.no_cpython_wrapper = self.py_func is not function.py_func
        return flags

    changed: dict[tuple[Any, str], Callable[..., Any]] = {
        (library, "finalize"): finalize,
        (library, "get_pointer_to_function"): lambda self, symbol: address(self, symbol) if self.name == name else 0,
        (library, "_optimize_functions"): lambda self, module: None,
        (compiler, "_customize_flags"): customize_flags,
        (cpu, "set_env"): lambda self, symbol, environment: None,
        (KernelCache, "load_overload"): lambda self, signature, context: None,
        (KernelCache, "save_overload"): lambda self, *rest: save(self, *rest) if self is function._cache else None,
    }
    for (owner, method), replacement in changed.items():
        setattr(owner, method, replacement)
    try:
        yield
    finally:
        for (owner, method), original in before.items():
            setattr(owner, method, original)


def _all_linked(library: Any) -> list[Any]:
    """Every library that one needs, each once."""
    seen: dict[Any, None] = {}
    waiting = [*library._linking_libraries]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen[one] = None
            waiting += one._linking_libraries
    return list(seen)


if __name__ == "__main__":
    main()
