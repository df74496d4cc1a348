"""The way to the compiled kernels: whether they may replace tensor code, and which are called."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from alfilter.kernels.compile import Call as Call


_local = threading.local()


def load_kernels(name: str) -> Any:
    """The module `alfilter.kernels.<name>`, imported when it is first needed; call after `can_use_kernels`."""
    calls: list[Call] | None = getattr(_local, "calls", None)
    return _module(name) if calls is None else _Recorder(_module(name), calls)


@cache
def _module(name: str) -> Any:
    return import_module(f"alfilter.kernels.{name}")


@contextmanager
def recorded_calls() -> Iterator[list[Call]]:
    """Inside, in this thread, kernels are not run: the list is filled with what would have been called.

    What they would have computed is left as it was allocated.
    """
    calls: list[Call] = []
    _local.calls = calls
    try:
        yield calls
    finally:
        _local.calls = None


class _Recorder:
    """A module of kernels whose calls are recorded instead of made."""

    def __init__(self, module: Any, calls: list[Call]) -> None:
        self._module, self._calls = module, calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return (
            {key: self._replace(one) for key, one in value.items()} if isinstance(value, dict) else self._replace(value)
        )

    def _replace(self, value: Any) -> Any:
        compiling = _module("compile")
        if not compiling.is_kernel(value):
            return value

        def record(*arguments: Any) -> float:
            self._calls.append(compiling.Call.of(value, arguments))
            return 0.0

        return record


@cache
def kernels_available() -> bool:
    """Whether numba, which compiles the kernels, can be imported."""
    try:
        _module("jit")
    except ImportError:
        return False
    return True


def can_use_kernels(*tensors: Tensor) -> bool:
    """Whether the kernels may run: float32 on the CPU, batched, not inside torch.func or torch.compile.

    >>> can_use_kernels(torch.zeros(4, 2, dtype=torch.float64))
    False
    """
    return (
        all(t.dtype == torch.float32 and t.device.type == "cpu" for t in tensors)
        and tensors[0].dim() >= 2
        and tensors[0].numel() > 0
        and not torch._C._are_functorch_transforms_active()
        and not torch.compiler.is_compiling()
        and kernels_available()
    )


def has_nan(x: Tensor) -> bool:
    """Whether some number is NaN: by a sum, which is faster than a search; opposite infinities count as well.

    >>> has_nan(torch.tensor([1.0, float("nan")]))
    True
    """
    return bool(x.sum().isnan())
