"""The way to the compiled kernels: whether they may replace tensor code, which are called, and by whose products."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.kernels.compile import Call as Call


# How a network is computed: over blocks of points with own matrix products; layer by layer with the library's products
# (MKL, OpenBLAS) and own passes between them; by tensor code alone. The second is for perceptrons, other networks are
# computed in blocks there, too.
WAYS = ("blocks", "layers", "plain")
VARIABLE = "ALFILTER_KERNELS"

_local = threading.local()
_way: str | None = None  # of all threads: the workers of a fit compute alike


def fixed_way() -> str | None:
    """The way that the environment asks for, if it does.

    >>> fixed_way() in (None, *WAYS)
    True
    """
    named = os.environ.get(VARIABLE) or None
    if named is not None and named not in WAYS:
        raise UserError(f"{VARIABLE} is one of {', '.join(WAYS)}, got {named!r}; unset it for the fastest")
    return named


def current_way() -> str:
    """The way in use: inside `use_way` its own, else what the environment asks for, or the first of `WAYS`."""
    return _way or fixed_way() or WAYS[0]


@contextmanager
def use_way(way: str) -> Iterator[None]:
    """Inside, networks are computed this way, in all threads and in processes forked there.

    >>> with use_way("plain"):
    ...     current_way()
    'plain'
    """
    global _way
    before, _way = _way, way
    try:
        yield
    finally:
        _way = before


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
        and current_way() != "plain"
        and kernels_available()
    )


def has_nan(x: Tensor) -> bool:
    """Whether some number is NaN: by a sum, which is faster than a search; opposite infinities count as well.

    >>> has_nan(torch.tensor([1.0, float("nan")]))
    True
    """
    return bool(x.sum().isnan())
