"""Second derivatives of what compiled kernels compute, by the plain equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def double_backward(plain: Callable[..., Tensor], inputs: Sequence[Tensor], grad: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients of `plain(*inputs)` with a graph of their own: a compiled function differentiated twice.

    plain: the same function in tensor operations. grad: of its output → one gradient per input, None where none is
    required.

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> double_backward(lambda x: x**3, [x], torch.ones(1))
    (tensor([12.], grad_fn=<MulBackward0>),)
    """
    required = [i for i, tensor in enumerate(inputs) if tensor.requires_grad]
    # each input gets a node of its own, so that the inner differentiation stops there
    local = [tensor.view_as(tensor) if tensor.requires_grad else tensor for tensor in inputs]
    grads = torch.autograd.grad(plain(*local), [local[i] for i in required], grad, create_graph=True)
    result: list[Tensor | None] = [None] * len(inputs)
    for i, tensor in zip(required, grads, strict=True):
        result[i] = tensor
    return tuple(result)
