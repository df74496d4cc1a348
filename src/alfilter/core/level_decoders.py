"""Decoders for levels of detail: a small perceptron per level, on the sum of the features up to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from alfilter.core.layers import Layers, perceptron


def level_values(features: Tensor, dims: int, decoders: Sequence[Layers]) -> Tensor:
    """MLP_l([x, g_0 + … + g_l]) for every level l, each a ReLU perceptron of its own, all of the same sizes.

    features: (..., d + L F), [x, g_0, …, g_{L-1}]. dims: d → (L, ..., c).

    >>> double = [(torch.tensor([[0.0, 2.0]]), torch.zeros(1)), (torch.ones(1, 1), torch.ones(1))]
    >>> level_values(torch.tensor([[9.0, 1.0, 3.0]]), 1, [double, double]).flatten()
    tensor([3., 9.])
    """
    values = []
    for z, layers in zip(level_inputs(features, dims, len(decoders)), decoders, strict=True):
        weights, biases = zip(*layers, strict=True)
        values.append(perceptron(z, weights, biases, "relu"))
    return torch.stack(values)


def level_inputs(features: Tensor, dims: int, levels: int) -> list[Tensor]:
    """[x, g_0 + … + g_l] of every level: (..., d + F) each."""
    x, grids = features[..., :dims], torch.unflatten(features[..., dims:], -1, (levels, -1))
    sums = accumulate(grids.unbind(-2))  # not `cumsum`, which adds in double precision
    return [torch.cat((x, total), dim=-1) for total in sums]
