"""σ(W x + b): the layers of Eqs. z1_filtered to output_layer, one by one and a whole network at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.core.fused import compiled, fusible, replay

FUSED = ("sine", "relu")  # the activations a whole network of which `perceptron` computes


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
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, omega: float = 1.0
) -> Tensor:
    """z ← σ(W z + b) for all layers but the last, then W z + b. x: (..., C) → (..., c).

    weights: (w, C), (w, w), …, (c, w); biases to match. activation: one of `FUSED`; only the sine reads omega. One
    function for the whole network, so that a training step is its matrix products and one pass over every layer each
    way.

    >>> perceptron(torch.ones(1, 1), [torch.ones(2, 1), torch.ones(1, 2)], [torch.ones(2), torch.ones(1)], "relu")
    tensor([[5.]])
    """
    if len(weights) < 2 or not fusible(x, *weights, *biases):
        return plain_perceptron(x, weights, biases, activation, omega)
    flat = x.reshape(-1, x.shape[-1])
    return _Perceptron.apply(activation, omega, flat, *weights, *biases).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


def plain_perceptron(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, omega: float = 1.0
) -> Tensor:
    """`perceptron` in tensor operations: the reference, and the path for other devices and precisions."""
    *hidden, (weight, bias) = zip(weights, biases, strict=True)
    for w, b in hidden:
        x = affine_sine(x, w, b, omega) if activation == "sine" else affine_relu(x, w, b)
    return affine(x, weight, bias)


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, activation: str, omega: float, x: Tensor, *tensors: Tensor) -> Tensor:
        depth = len(tensors) // 2 - 1  # hidden layers
        weights, biases = tensors[: depth + 1], tensors[depth + 1 :]
        values, slopes = [x], []  # the input of every layer; ∂activation of the hidden ones
        for weight, bias in zip(weights[:depth], biases[:depth], strict=True):
            z = torch.mm(values[-1], weight.t())  # (n, w)
            if activation == "sine":
                slopes.append(torch.empty_like(z))
                compiled().sine_forward(z.numpy(), bias.numpy(), np.float32(omega), slopes[-1].numpy())
            else:
                compiled().relu_forward(z.numpy(), bias.numpy())
            values.append(z)
        ctx.save_for_backward(*tensors, *values, *slopes)
        ctx.setting = activation, omega, depth
        return torch.addmm(biases[-1], values[-1], weights[-1].t())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        activation, omega, depth = ctx.setting
        tensors, layers = ctx.saved_tensors[: 2 * depth + 2], ctx.saved_tensors[2 * depth + 2 :]
        weights, values = tensors[: depth + 1], layers[: depth + 1]
        if torch.is_grad_enabled():
            return None, None, *replay(_plain(activation, omega, depth), (values[0], *tensors), grads[0])
        if activation == "sine":
            slopes, scale = layers[depth + 1 :], compiled().sine_backward
        else:  # relu's own values say where it was open
            slopes, scale = values[1:], compiled().relu_backward
        g = grads[0]
        by_weight, by_bias = [torch.mm(g.t(), values[depth])], [g.sum(0)]
        for i in reversed(range(depth)):
            g = torch.mm(g, weights[i + 1])  # ours alone, so it may be overwritten
            sums = g.new_zeros(g.shape[1])
            scale(g.numpy(), slopes[i].numpy(), sums.numpy())
            by_weight.insert(0, torch.mm(g.t(), values[i]))
            by_bias.insert(0, sums)
        by_input = torch.mm(g, weights[0]) if ctx.needs_input_grad[2] else None
        return None, None, by_input, *by_weight, *by_bias


def _plain(activation: str, omega: float, depth: int) -> Callable[..., Tensor]:
    """`plain_perceptron` of its tensors in a row."""
    return lambda x, *rest: plain_perceptron(x, rest[: depth + 1], rest[depth + 1 :], activation, omega)
