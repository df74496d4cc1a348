"""The network of the Fourier filter bank."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.core.layers import Layers, affine_sine, perceptron


def filter_bank(features: Tensor, layers: Layers, cycles: Tensor, omega: float, merge: Layers) -> Tensor:
    """z_0 = sin(ω(W_0 x + b_0)), z_i = sin(ω(W_i z_{i-1} + b_i)) + sin(2π F_i g_i), then a ReLU network of [z_1 … z_L].

    features: (..., d + L F), [x, g_1, …, g_L]. layers: (w, d), then L of (w, w). cycles: F_i, (L, w, F). merge: the
    ReLU network's, from L w to c → (..., c).
    """
    x, *levels = torch.split(features, [layers[0][0].shape[1], *[cycles.shape[2]] * len(cycles)], dim=-1)
    z, outputs = affine_sine(x, *layers[0], omega), []
    for (weight, bias), level, turns in zip(layers[1:], levels, cycles, strict=True):
        z = affine_sine(z, weight, bias, omega) + torch.sin(2 * math.pi * F.linear(level, turns))
        outputs.append(z)
    weights, biases = zip(*merge, strict=True)
    return perceptron(torch.cat(outputs, dim=-1), weights, biases, "relu")
