"""σ(W x + b), layer after layer, as one differentiable function of the whole network.

A network whose layers fit the caches is computed in blocks of points (`blocked_mlp`); a wider one, or any on a
processor on which the library's matrix products are faster than ours, layer by layer, by matrix products and one pass
over every layer each way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from alfilter.core import layers as equations
from alfilter.core.activations import ACTIVATIONS
from alfilter.kernels.dispatch import can_use_kernels, current_way, load_kernels
from alfilter.ops.double_backward import double_backward
from alfilter.ops.matmul import multiply, outer

PERCEPTRON_ACTIVATIONS = ("sine", "relu", *ACTIVATIONS)  # what `perceptron` can compute
MAX_WIDTH, _MAX_INPUTS = 384, 1024  # above, a layer's weights leave the second cache, and a library's GEMM is faster
_MAX_SAVED = (1 << 23) - 1024  # numbers in one allocation: the C library reuses no larger ones (`runtime.memory`)
BLOCKED_ACTIVATIONS = {"relu": 0, "sine": 1}  # as `kernels.mlp` counts them

Plain = Callable[[Tensor, Sequence[Tensor], Sequence[Tensor]], Tensor]
Setting = tuple[str, float, float]  # activation, omega, sharpness


def perceptron(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    activation: str,
    omega: float = 1.0,
    sharpness: float = 1.0,
) -> Tensor:
    """`core.layers.perceptron` with one of `PERCEPTRON_ACTIVATIONS`: a whole network in one call."""
    if len(weights) < 2 or not can_use_kernels(x, *weights, *biases):
        return equations.perceptron(x, weights, biases, activation, omega, sharpness)
    flat = x.reshape(-1, x.shape[-1])
    setting = activation, omega, sharpness
    if current_way() == "blocks" and can_block(activation, weights):
        plain = lambda x, w, b: equations.perceptron(x, w, b, *setting)  # noqa: E731
        return blocked_mlp(flat, weights, biases, activation, omega, plain).view(*x.shape[:-1], -1)
    return _LayerByLayer.apply(setting, flat, *weights, *biases).view(*x.shape[:-1], -1)  # type: ignore[no-any-return,no-untyped-call]


def can_block(activation: str, weights: Sequence[Tensor]) -> bool:
    """Whether `blocked_mlp` can do this activation, and is the faster way for these widths on most processors."""
    widest = max(len(weight) for weight in weights)
    return activation in BLOCKED_ACTIVATIONS and widest <= MAX_WIDTH and weights[0].shape[1] <= _MAX_INPUTS


def blocked_mlp(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, omega: float, plain: Plain
) -> Tensor:
    """z ← σ(W z + b) for all layers but the last, then W z + b. x: (n, C) → (n, c).

    A block of points goes through all layers before the next block starts, forward and backward, so that only what the
    backward pass needs is written to memory. plain: the same in tensor operations, for second derivatives.
    """
    setting = BLOCKED_ACTIVATIONS[activation], omega, len(weights), plain
    saved = sum(load_kernels("mlp").row_stride(len(weight)) for weight in weights[:-1])  # numbers per point
    parts = -(-len(x) * saved // _MAX_SAVED)
    if parts > 1:
        rows = torch.split(x, -(-len(x) // parts))
        return torch.cat([blocked_mlp(part, weights, biases, activation, omega, plain) for part in rows])
    return _BlockedMLP.apply(setting, x.contiguous(), *weights, *biases)  # type: ignore[no-any-return,no-untyped-call]


class _BlockedMLP(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: tuple[int, float, int, Plain], x: Tensor, *tensors: Tensor) -> Tensor:
        kind, omega, count, _ = setting
        sizes = np.array([x.shape[1], *(len(weight) for weight in tensors[:count])])
        pairs = zip(tensors[:count], tensors[count:], strict=True)
        params = torch.cat([t.detach().reshape(-1) for pair in pairs for t in pair])
        kernels = load_kernels("mlp")
        numbers = len(x) * sum(kernels.row_stride(width) for width in sizes[1:-1].tolist())
        hidden, slopes = x.new_empty(numbers), x.new_empty(numbers if kind else 0)
        out = x.new_empty(len(x), int(sizes[-1]))
        arrays = [t.detach().numpy() for t in (params, hidden, slopes, out)]
        kernels.mlp_forward(x.detach().numpy(), sizes, arrays[0], kind, np.float32(omega), *arrays[1:])
        ctx.save_for_backward(x, *tensors, params, hidden, slopes)
        ctx.setting = setting, sizes
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (kind, _, count, plain), sizes = ctx.setting
        x, *tensors, params, hidden, slopes = ctx.saved_tensors
        if torch.is_grad_enabled():
            return None, *double_backward(lambda x, *t: plain(x, t[:count], t[count:]), (x, *tensors), grads[0])
        by_params = torch.zeros_like(params)
        by_x = torch.empty_like(x) if ctx.needs_input_grad[1] else x.new_empty(0, x.shape[1])
        arrays = [t.detach().numpy() for t in (params, hidden, slopes, by_params, by_x)]
        inputs = grads[0].contiguous().numpy(), x.detach().numpy(), sizes, arrays[0], kind
        load_kernels("mlp").mlp_backward(*inputs, *arrays[1:])
        pairs = zip(tensors[:count], tensors[count:], strict=True)
        parts = torch.split(by_params, [t.numel() for pair in pairs for t in pair])
        by_tensors = [part.view(t.shape) for part, t in zip((*parts[::2], *parts[1::2]), tensors, strict=True)]
        return None, by_x if ctx.needs_input_grad[1] else None, *by_tensors


class _LayerByLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, setting: Setting, x: Tensor, *tensors: Tensor) -> Tensor:
        depth = len(tensors) // 2 - 1  # hidden layers
        weights, biases = tensors[: depth + 1], tensors[depth + 1 :]
        values, slopes = [x], []  # the input of every layer; ∂activation of the hidden ones
        for weight, bias in zip(weights[:depth], biases[:depth], strict=True):
            z = multiply(values[-1], weight.t())  # (n, w)
            slope = z if setting[0] == "relu" else torch.empty_like(z)  # relu's slope follows from its values
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
            return None, *double_backward(_plain(setting, depth), (values[0], *tensors), grads[0])
        slopes = layers[depth + 1 :]
        g = grads[0]
        by_weight, by_bias = [outer(g, values[depth])], [g.sum(0)]
        for i in reversed(range(depth)):
            g = multiply(g, weights[i + 1])  # a new tensor, so it may be overwritten
            sums = g.new_zeros(g.shape[1])
            _activation_backward(setting, g, values[i + 1], slopes[i] if slopes else values[i + 1], sums)
            by_weight.insert(0, outer(g, values[i]))
            by_bias.insert(0, sums)
        by_input = multiply(g, weights[0]) if ctx.needs_input_grad[1] else None
        return None, by_input, *by_weight, *by_bias


def _activate(setting: Setting, z: Tensor, bias: Tensor, slope: Tensor) -> None:
    """z ← σ(z+b) in place, slope ← σ'."""
    kernels = load_kernels("activations")
    activation, omega, sharpness = setting[0], np.float32(setting[1]), np.float32(setting[2])
    if activation == "relu":
        kernels.relu_forward(z.numpy(), bias.numpy())
    elif activation == "sine":
        kernels.sine_forward(z.numpy(), bias.contiguous().numpy(), omega, slope.numpy())
    else:
        kernels.FORWARD[activation](z.numpy(), bias.numpy(), omega, sharpness, slope.numpy())


def _activation_backward(setting: Setting, g: Tensor, value: Tensor, slope: Tensor, sums: Tensor) -> None:
    """g ← the gradient before the activation, in place; sums += its column sums."""
    kernels = load_kernels("activations")
    if setting[0] == "relu":
        kernels.relu_backward(g.numpy(), value.numpy(), sums.numpy())
    elif setting[0] == "complex-wavelet":
        omega = np.float32(setting[1])
        kernels.complex_wavelet_backward(g.numpy(), value.numpy(), slope.numpy(), omega, sums.numpy())
    else:
        kernels.slope_backward(g.numpy(), slope.numpy(), sums.numpy())


def _plain(setting: Setting, depth: int) -> Callable[..., Tensor]:
    """`equations.perceptron` of a flat sequence of tensors."""
    return lambda x, *rest: equations.perceptron(x, rest[: depth + 1], rest[depth + 1 :], *setting)
