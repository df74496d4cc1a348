"""The linear layers of a network, found while it runs: what a per-layer contraction of its Jacobian needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode


@dataclass(frozen=True)
class Layer:
    """One call of z = W a + b: a (n, inputs), z (n, width), and those of W and b that are asked for."""

    inputs: Tensor
    output: Tensor
    weight: Tensor | None
    bias: Tensor | None

    def inputs_kernel(self) -> Tensor:
        """a aᵀ of the weight plus 1 of the bias: (n, n)."""
        a = self.inputs.detach()
        kernel = a @ a.T if self.weight is not None else a.new_zeros(len(a), len(a))
        return kernel + 1 if self.bias is not None else kernel


class Linears(TorchFunctionMode):
    """Records the linear layers of a network while it runs over n points.

    A parameter counts as a layer's when that one call is all that uses it; one that is used in any other way (a second
    call, a product, a slice) is differentiated row by row.
    """

    def __init__(self, parameters: Sequence[Tensor], points: int) -> None:
        super().__init__()
        self.points = points
        self.known = {id(p): p for p in parameters}
        self.uses: Counter[int] = Counter()
        self.calls: list[tuple[Tensor, Tensor, Tensor | None, Tensor]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not isinstance(out, Tensor | tuple | list) or isinstance(out, torch.Size):
            return out  # a look at a shape or a precision
        touched = [t for t in _tensors((args, kwargs or {})) if id(t) in self.known]
        self.uses.update(id(t) for t in touched)
        if func is F.linear and touched and isinstance(out, Tensor):
            x, weight, bias = _linear_arguments(*args, **(kwargs or {}))
            if x.dim() == 2 and len(x) == self.points:
                self.calls.append((x, weight, bias, out))
            else:
                self.uses.update(id(t) for t in touched)  # not one row per point
        return out

    def layers(self) -> list[Layer]:
        """The calls whose weight, bias or both are theirs alone."""
        candidates = [Layer(x, out, self._own(weight), self._own(bias)) for x, weight, bias, out in self.calls]
        return [layer for layer in candidates if layer.weight is not None or layer.bias is not None]

    def _own(self, parameter: Tensor | None) -> Tensor | None:
        return parameter if parameter is not None and self.uses[id(parameter)] == 1 else None


def _linear_arguments(
    input: Tensor, weight: Tensor, bias: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    return input, weight, bias


def _tensors(values: Any) -> Iterator[Tensor]:
    """All tensors in nested arguments."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _tensors(value)
