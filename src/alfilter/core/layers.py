"""σ(W x + b): the layers of Eqs. z1_filtered to output_layer, one by one and a whole network at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.core.activations import ACTIVATIONS

Layers = Sequence[tuple[Tensor, Tensor]]  # weights (o, i) and biases (o,) of successive layers


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W x + b (Eq. output_layer). x: (..., C), weight: (w, C), bias: (w,) → (..., w)."""
    return F.linear(x, weight, bias)


def affine_sine(x: Tensor, weight: Tensor, bias: Tensor, omega: float) -> Tensor:
    """sin(ω(W x + b)), a sine layer. x: (..., C), weight: (w, C), bias: (w,) → (..., w).

    >>> affine_sine(torch.tensor([[1.0]]), torch.tensor([[0.5]]), torch.tensor([0.25]), omega=2.0)
    tensor([[0.9975]])
    """
    return torch.sin(omega * F.linear(x, weight, bias))


def affine_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max(W x + b, 0), a ReLU layer. x: (..., C), weight: (w, C), bias: (w,) → (..., w).

    >>> affine_relu(torch.tensor([[1.0]]), torch.tensor([[2.0], [-2.0]]), torch.zeros(2))
    tensor([[2., 0.]])
    """
    return torch.relu(F.linear(x, weight, bias))


def perceptron(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    activation: str,
    omega: float = 1.0,
    sharpness: float | Tensor = 1.0,
) -> Tensor:
    """z ← σ(W z + b) for all layers but the last, then W z + b. x: (..., C) → (..., c).

    weights: (w, C), (w, w), …, (c, w); biases to match. activation: relu, sine or one of `ACTIVATIONS`. omega,
    sharpness: the numbers of the activations that have them; ReLU reads none.

    >>> perceptron(torch.ones(1, 1), [torch.ones(2, 1), torch.ones(1, 2)], [torch.ones(2), torch.ones(1)], "relu")
    tensor([[5.]])
    """
    *hidden, (weight, bias) = zip(weights, biases, strict=True)
    for w, b in hidden:
        if activation == "sine":
            x = affine_sine(x, w, b, omega)
        elif activation == "relu":
            x = affine_relu(x, w, b)
        else:
            x = ACTIVATIONS[activation](affine(x, w, b), omega, sharpness)
    return affine(x, weight, bias)
