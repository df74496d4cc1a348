"""σ(W x + b), layer after layer, as one differentiable function of the whole network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import layers as equations
from alfilter.core.activations import ACTIVATIONS
from alfilter.ops.blocked_mlp import chain, chainable
from alfilter.ops.dispatch import compiled, fusible, kernels_of, replay
from alfilter.ops.matmul import multiply, outer

FUSED = ("sine", "relu", *ACTIVATIONS)  # the activations a whole network of which `perceptron` computes


def perceptron(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    activation: str,
    omega: float = 1.0,
    sharpness: float = 1.0,
) -> Tensor:
    """z ← σ(W z + b) for all layers but the last, then W z + b. x: (..., C) → (..., c).

    weights: (w, C), (w, w), …, (c, w); biases to match. activation: one of `FUSED`. omega, sharpness: the numbers of
    the activations that have them (`shapes`); ReLU reads none. One function for the whole network, so that a training
    step is its matrix products and one pass over every layer each way.

    >>> perceptron(torch.ones(1, 1), [torch.ones(2, 1), torch.ones(1, 2)], [torch.ones(2), torch.ones(1)], "relu")
    tensor([[5.]])
    """
    if len(weights) < 2 or not fusible(x, *weights, *biases):
        return equations.perceptron(x, weights, biases, activation, omega, sharpness)
    flat = x.reshape(-1, x.shape[-1])
    setting = activation, omega, sharpness
    if chainable(activation, weights):
        plain = lambda x, w, b: equations.perceptron(x, w, b, *setting)  # noqa: E731
        return chain(flat, weights, biases, activation, omega, plain).view(*x.shape[:-1], -1)
    return _Perceptron.apply(setting, flat, *weights, *biases).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: tuple[str, float, float], x: Tensor, *tensors: Tensor) -> Tensor:
        depth = len(tensors) // 2 - 1  # hidden layers
        weights, biases = tensors[: depth + 1], tensors[depth + 1 :]
        values, slopes = [x], []  # the input of every layer; ∂activation of the hidden ones
        for weight, bias in zip(weights[:depth], biases[:depth], strict=True):
            z = multiply(values[-1], weight.t())  # (n, w)
            slope = z if setting[0] == "relu" else torch.empty_like(z)  # relu's own values say where it was open
            _activate(setting, z, bias, slope)
            values.append(z)
            if slope is not z:
                slopes.append(slope)
        ctx.save_for_backward(*tensors, *values, *slopes)
        ctx.setting = setting, depth
        return torch.addmm(biases[-1], values[-1], weights[-1].t())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        setting, depth = ctx.setting
        tensors, layers = ctx.saved_tensors[: 2 * depth + 2], ctx.saved_tensors[2 * depth + 2 :]
        weights, values = tensors[: depth + 1], layers[: depth + 1]
        if torch.is_grad_enabled():
            return None, *replay(_plain(setting, depth), (values[0], *tensors), grads[0])
        slopes = layers[depth + 1 :]
        g = grads[0]
        by_weight, by_bias = [outer(g, values[depth])], [g.sum(0)]
        for i in reversed(range(depth)):
            g = multiply(g, weights[i + 1])  # ours alone, so it may be overwritten
            sums = g.new_zeros(g.shape[1])
            _scale(setting, g, values[i + 1], slopes[i] if slopes else values[i + 1], sums)
            by_weight.insert(0, outer(g, values[i]))
            by_bias.insert(0, sums)
        by_input = multiply(g, weights[0]) if ctx.needs_input_grad[1] else None
        return None, by_input, *by_weight, *by_bias


def _activate(setting: tuple[str, float, float], z: Tensor, bias: Tensor, slope: Tensor) -> None:
    """z ← σ(z+b) in place, slope ← σ'."""
    activation, omega, sharpness = setting[0], np.float32(setting[1]), np.float32(setting[2])
    if activation == "relu":
        compiled().relu_forward(z.numpy(), bias.numpy())
    elif activation == "sine":
        compiled().sine_forward(z.numpy(), bias.contiguous().numpy(), omega, slope.numpy())
    else:
        kernels_of("activations").FORWARD[activation](z.numpy(), bias.numpy(), omega, sharpness, slope.numpy())


def _scale(setting: tuple[str, float, float], g: Tensor, value: Tensor, slope: Tensor, sums: Tensor) -> None:
    """g ← the gradient before the activation, in place; sums += its column sums."""
    if setting[0] == "relu":
        compiled().relu_backward(g.numpy(), value.numpy(), sums.numpy())
    elif setting[0] == "complex-wavelet":
        kernel = kernels_of("activations").complex_wavelet_backward
        kernel(g.numpy(), value.numpy(), slope.numpy(), np.float32(setting[1]), sums.numpy())
    else:
        compiled().sine_backward(g.numpy(), slope.numpy(), sums.numpy())


def _plain(setting: tuple[str, float, float], depth: int) -> Callable[..., Tensor]:
    """`equations.perceptron` of its tensors in a row."""
    return lambda x, *rest: equations.perceptron(x, rest[: depth + 1], rest[depth + 1 :], *setting)
