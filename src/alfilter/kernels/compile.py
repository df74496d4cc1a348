"""Fill the cache with kernels before they are called: in processes of their own, one per core.

numba compiles one function at a time per process, and optimises what a function calls once for itself and again in
every caller. The processes here only compile, so they leave all optimisation to the kernel at the end, in less than
half the time.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

from numba.core import codegen, types
from numba.core import dispatcher as dispatchers
from numba.core.registry import cpu_target
from numba.core.runtime import nrt

from alfilter.kernels.cache import KernelCache, announce, cache_folder

dispatcher: Any = dispatchers
_types: Any = types
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


class Compilers:
    """Processes that compile: started at once, they are ready when it is known what for. Without a cache, none.

    >>> with Compilers(2) as compilers:
    ...     compilers.compile([])
    """

    def __init__(self, count: int) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        if cache_folder() is not None:
            with suppress(OSError):  # fewer, or this process compiles
                for _ in range(count):
                    self._processes.append(start_compiler(os.environ))

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, *error: object) -> None:
        self._kill()
        for process in self._processes:
            process.communicate()

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()

    def compile(self, calls: Sequence[Call]) -> None:
        """Compile what is missing, the first ones first, and load it; what no process could compile, here."""
        missing = [call for call in dict.fromkeys(calls) if not call.is_ready()]
        if not missing:
            return
        announce()
        if self._processes:
            with (
                cache_lock(".lock"),
                suppress(RuntimeError),
                ThreadPoolExecutor(len(self._processes)) as pool,
            ):  # or no more threads
                waiting = iter([call for call in missing if not call.is_ready()])  # another run may have compiled some
                try:
                    list(pool.map(lambda process: _drive(process, waiting), self._processes))
                except BaseException:  # stopped: the pool's threads would wait until all is compiled
                    self._kill()
                    raise
        for call in missing:
            call.function().compile(call.signature)


def start_compiler(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A process that compiles what `compile_in` sends to it, into the cache."""
    command = [sys.executable, "-P", "-m", "alfilter.kernels.compile"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, **pipes)


def compile_in(process: subprocess.Popen[bytes], call: Call) -> bool:
    """Have a process compile a call; whether it has, or died of it."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        pickle.dump(call, process.stdin)
        process.stdin.flush()
        return bool(process.stdout.read(1))
    return False


def _drive(process: subprocess.Popen[bytes], waiting: Iterator[Call]) -> None:
    """Have a process compile the next call whenever it is ready, until there is none; or it has died."""
    for call in waiting:
        if not compile_in(process, call):
            return


@contextmanager
def cache_lock(name: str) -> Iterator[None]:
    """Runs that start at the same time work one after the other: the second finds everything in the cache."""
    folder = cache_folder()
    assert folder is not None
    stack = ExitStack()
    with suppress(OSError, ImportError):  # Windows has no such lock, and some file systems
        import fcntl

        fcntl.flock(stack.enter_context((folder / name).open("w")), fcntl.LOCK_EX)
    try:
        yield
    finally:
        stack.close()


def main() -> None:
    """Compile what comes on standard input, one call after the other, and answer each with a byte."""
    gc.disable()  # a tenth of the time; the process ends soon
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
    """Inside, only `function` becomes machine code; what it calls is linked into it, simplified but not optimised.

    Without the simplification, the first pass of the optimiser finds no loop that it could turn into vectors.

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
            (compiler, "_customize_flags"),
            (cpu, "set_env"),
            (dispatcher.Dispatcher, "get_call_template"),
            (KernelCache, "load_overload"),
            (KernelCache, "save_overload"),
        )
    }
    address, save = before[library, "get_pointer_to_function"], before[KernelCache, "save_overload"]
    template = before[dispatcher.Dispatcher, "get_call_template"]

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

    def call_template(self: Any, arguments: Any, keywords: Any) -> Any:
        """One compiled callee for all integers, not one for every literal that it is called with."""
        return template(self, [_types.unliteral(argument) for argument in arguments], keywords)

    changed: dict[tuple[Any, str], Callable[..., Any]] = {
        (library, "finalize"): finalize,
        (library, "get_pointer_to_function"): lambda self, symbol: address(self, symbol) if self.name == name else 0,
        (compiler, "_customize_flags"): customize_flags,
        (dispatcher.Dispatcher, "get_call_template"): call_template,
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
