"""Slow, obvious twins of the package's functions: plain Python numbers and loops, one line of mathematics at a time.

Nothing here shares code with the package. Arguments are nested lists or floats, results are Python floats, and every
loop is written the way the equation reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import product
from typing import Any


def dyadic_encoding(x: Sequence[float], levels: int) -> list[float]:
    """γ(x), channel by channel in the paper's order (Eq. fourier_encoding)."""
    channels = []
    for j in range(levels):
        for coordinate in x:
            channels.append(math.sin(2**j * math.pi * coordinate))
            channels.append(math.cos(2**j * math.pi * coordinate))
    return channels


def random_features(x: Sequence[float], frequencies: Sequence[Sequence[float]]) -> list[float]:
    """All sines of 2π B x, then all cosines."""
    angles = [2 * math.pi * sum(b * v for b, v in zip(row, x, strict=True)) for row in frequencies]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def sigmoid(x: float) -> float:
    """σ_s(x) by its two cases (Eq. stable_sigmoid)."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def band_response(alpha: float, channels: int, bandwidth: float, kappa: float) -> list[float]:
    """H_B^c(α) as the plain difference of two sigmoids (Eq. channel_filter); absolute accuracy of float64."""
    return [
        sigmoid(kappa * (c - alpha + bandwidth / 2)) - sigmoid(kappa * (c - alpha - bandwidth / 2))
        for c in range(channels)
    ]


def exact_band_response(alpha: float, channels: int, bandwidth: float, kappa: float, digits: int = 400) -> list[float]:
    """H_B^c(α) as the difference of two sigmoids with so many digits that the subtraction loses none that count."""
    with localcontext() as context:
        context.prec = digits

        def sharp(offset: Decimal) -> Decimal:
            return 1 / (1 + (-Decimal(kappa) * offset).exp())

        half = Decimal(bandwidth) / 2
        offsets = [Decimal(c) - Decimal(alpha) for c in range(channels)]
        return [float(sharp(offset + half) - sharp(offset - half)) for offset in offsets]


def scale_response(alpha: float, in_dim: int, levels: int, bandwidth: float, kappa: float) -> list[float]:
    """H̄_j(α): the mean over the 2d channels of each scale (Eq. aggregated_filter)."""
    response = band_response(alpha, 2 * in_dim * levels, bandwidth, kappa)
    means = []
    for j in range(levels):
        members = [response[c] for c in range(len(response)) if c // (2 * in_dim) == j]
        means.append(sum(members) / len(members))
    return means


def filtered_encoding(x: Sequence[float], alpha: float, levels: int, bandwidth: float, kappa: float) -> list[float]:
    """γ'(x) = H_B(α) ⊙ γ(x) (Eq. filtered_gamma)."""
    response = band_response(alpha, 2 * len(x) * levels, bandwidth, kappa)
    return [h * g for h, g in zip(response, dyadic_encoding(x, levels), strict=True)]


def interpolate(grid: Any, x: Sequence[float]) -> list[float]:
    """I(x; A): the 2^d corners of a point's cell, each weighted by the product of its nearnesses (Eq. grid_interp).

    grid: nested lists (R_1, …, R_d, F), whose ends sit on -1 and 1.
    """
    sizes = shape(grid)[:-1]
    lows, parts = [], []
    for coordinate, size in zip(x, sizes, strict=True):
        position = (min(max(coordinate, -1.0), 1.0) + 1) / 2 * (size - 1)
        low = min(math.floor(position), max(size - 2, 0))
        lows.append(low)
        parts.append(position - low)
    values = [0.0] * shape(grid)[-1]
    for corner in product((0, 1), repeat=len(sizes)):
        weight, node = 1.0, grid
        for low, part, step, size in zip(lows, parts, corner, sizes, strict=True):
            weight *= part if step else 1 - part
            node = node[min(low + step, size - 1)]
        values = [value + weight * number for value, number in zip(values, node, strict=True)]
    return values


def total_variation(grid: Any, reduction: str) -> float:
    """Σ |A_{i+e_k} - A_i| over all nodes i and axes k; `mean` divides by the number of pairs."""
    *sizes, features = shape(grid)
    total, pairs = 0.0, 0
    for index in product(*(range(size) for size in sizes)):
        for axis, size in enumerate(sizes):
            if index[axis] + 1 < size:
                neighbour = tuple(i + (k == axis) for k, i in enumerate(index))
                for f in range(features):
                    total += abs(_at(grid, neighbour)[f] - _at(grid, index)[f])
                    pairs += 1
    return total if reduction == "sum" else total / max(pairs, 1)


def activated(z: float, activation: str, omega: float, sharpness: float) -> float:
    """σ(z) of every activation by its name."""
    if activation == "relu":
        return max(z, 0.0)
    if activation == "gauss":
        return math.exp(-((sharpness * z) ** 2))
    if activation == "wavelet":
        return math.cos(omega * z) * math.exp(-((sharpness * z) ** 2))
    if activation == "sinc":
        return math.sin(omega * z) / (omega * z) if z else 1.0
    if activation == "hosc":
        return math.tanh(sharpness * math.sin(omega * z))
    if activation.startswith("finer"):
        return math.sin(omega * (abs(z) + 1) * z)
    return math.sin(omega * z)


def mlp(
    x: Sequence[float],
    weights: Sequence[Any],
    biases: Sequence[Any],
    activation: str,
    omega: float = 1.0,
    sharpness: float = 1.0,
) -> list[float]:
    """Eqs. z1_filtered to output_layer, neuron by neuron."""
    z = list(x)
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        z = [sum(w * v for w, v in zip(row, z, strict=True)) + b for row, b in zip(weight, bias, strict=True)]
        if layer + 1 < len(weights):
            z = [activated(v, activation, omega, sharpness) for v in z]
    return z


def shape(nested: Any) -> list[int]:
    """The sizes of nested lists, outermost first."""
    return [len(nested), *shape(nested[0])] if isinstance(nested, list) else []


def _at(nested: Any, index: Sequence[int]) -> Any:
    for i in index:
        nested = nested[i]
    return nested
