"""When the compiled CPU kernels may stand in for plain tensor code, and how a second derivative is still had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch import Tensor


@cache
def kernels() -> ModuleType | None:
    """The compiled kernels, or None where numba cannot be imported."""
    try:
        from alfilter.kernels import elementwise as compiled
    except ImportError:
        return None
    return compiled


def fusible(*tensors: Tensor) -> bool:
    """Whether the kernels may run: float32 on the CPU, batched, not inside torch.func or torch.compile."""
    return (
        all(t.dtype == torch.float32 and t.device.type == "cpu" for t in tensors)
        and tensors[0].dim() >= 2
        and tensors[0].numel() > 0
        and not torch._C._are_functorch_transforms_active()
        and not torch.compiler.is_compiling()
        and kernels() is not None
    )


def has_nan(x: Tensor) -> bool:
    """Whether some number is NaN: by a sum, which is sooner had than a search; opposite infinities count as well."""
    return bool(x.sum().isnan())


def compiled() -> ModuleType:
    """The kernels, after `fusible` has said yes."""
    module = kernels()
    assert module is not None
    return module


@cache
def kernels_of(name: str) -> Any:
    """The compiled functions of one kind, after `fusible` has said yes; imported when they are first needed."""
    return import_module(f"alfilter.kernels.{name}")


def replay(plain: Callable[..., Tensor], inputs: Sequence[Tensor], grad: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients of `plain(*inputs)` in operations autograd can follow: a fused function differentiated twice."""
    wanted = [i for i, tensor in enumerate(inputs) if tensor.requires_grad]
    # each input gets a node of its own, so that the inner differentiation stops there
    local = [tensor.view_as(tensor) if tensor.requires_grad else tensor for tensor in inputs]
    found = torch.autograd.grad(plain(*local), [local[i] for i in wanted], grad, create_graph=True)
    result: list[Tensor | None] = [None] * len(inputs)
    for i, tensor in zip(wanted, found, strict=True):
        result[i] = tensor
    return tuple(result)
