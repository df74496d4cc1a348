"""A training step's gradient of a perceptron on coordinates or on Fourier features of them, in one call per worker.

Block by block: α, the features and the filter on them, the perceptron, the loss, and all of it backwards. Features are
made by columns, one channel of all points after the other, so that everything before the perceptron runs on vectors.
Its tests have the same in tensor operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from alfilter.kernels.exp import exp
from alfilter.kernels.gemm import whole_vectors
from alfilter.kernels.grid_lookup import Corners, add_numbers, corner_buffers, read_numbers
from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.mlp import BLOCK
from alfilter.kernels.mlp_step import Loss as Loss
from alfilter.kernels.mlp_step import Perceptron as Perceptron
from alfilter.kernels.mlp_step import add_gradient, block_buffers, block_gradient, empty_layers, layers_of, load_layers
from alfilter.kernels.sincos import sine_row


class Waves(NamedTuple):
    """sin θ_m and cos θ_m, θ = rates (scale ⊙ x + shift). rates: (M, d). scale: (d,).

    step, offset: sin θ_m is channel m step, cos θ_m the one `offset` further.
    """

    rates: Any
    scale: Any
    shift: Any
    step: Any
    offset: Any


class Band(NamedTuple):
    """H_c = σ(κ(c-α+half)) σ(κ(half-c+α)) peak, α = min(unit · I(x; A), cap). grid: of A, one level.

    cap: (n,), one per point, or (1,), the same for all.
    """

    grid: Any
    unit: Any
    half: Any
    kappa: Any
    peak: Any
    cap: Any


@njit(fastmath=FAST, nogil=True)
def _waves(x: Any, first: int, count: int, waves: Waves, sines: Any, cosines: Any, zeros: Any) -> None:
    """sines, cosines (M, BLOCK) of the points first … first+count-1. zeros: (BLOCK,)."""
    for m in range(len(waves.rates)):
        angle = sines[m]
        for i in range(count):
            angle[i] = f4(0)
        for k in range(len(x)):
            rate, scale = waves.rates[m, k], waves.scale[k]
            if rate != f4(0):
                for i in range(count):
                    angle[i] += rate * (scale * x[k][first + i] + waves.shift)
        sine_row(angle.ctypes.data, zeros.ctypes.data, f4(1), cosines[m].ctypes.data, count)


@njit(fastmath=FAST, nogil=True, error_model="numpy")
def _pass_band(channel: int, alpha: Any, band: Band, values: Any, slopes: Any) -> None:
    """values ← H ⊙ values, slopes = ∂/∂α of them, for one channel of all points. alpha, values, slopes: (m,)."""
    for i in range(len(alpha)):
        place = f4(channel) - alpha[i]
        rising, falling = band.kappa * (place + band.half), band.kappa * (band.half - place)
        a, b = exp(-abs(rising)), exp(-abs(falling))
        above, below = f4(1) / (f4(1) + a), f4(1) / (f4(1) + b)
        open_up, open_down = above if rising >= f4(0) else a * above, below if falling >= f4(0) else b * below
        shut_up, shut_down = a * above if rising >= f4(0) else above, b * below if falling >= f4(0) else below
        values[i] *= open_up * open_down * band.peak
        slopes[i] = values[i] * band.kappa * (shut_down - shut_up)


@njit(fastmath=FAST, nogil=True)
def _read_alpha(x: Any, first: int, band: Band, values: Any, alpha: Any, capped: Any, buffers: Corners) -> None:
    """alpha (m,) = unit · I(x; A) of the points first … first+m-1, capped (m,) = min(α, cap)."""
    read_numbers(x, first, band.grid, values, alpha, buffers)
    for i in range(len(alpha)):
        alpha[i] *= band.unit
        cap = band.cap[first + i] if len(band.cap) > 1 else band.cap[0]
        capped[i] = cap if alpha[i] > cap else alpha[i]  # NaN stays NaN


@njit(fastmath=FAST, nogil=True)
def _add_alpha(
    x: Any, first: int, band: Band, by_features: Any, slopes: Any, alpha: Any, by_values: Any, buffers: Corners
) -> None:
    """by_values (nodes,) += the gradient of A from by_features (m, C) and slopes (C, …); alpha (m,) is used up."""
    by_alpha = np.zeros(BLOCK, np.float32)
    for c in range(len(slopes)):
        own = slopes[c]
        for i in range(len(alpha)):
            by_alpha[i] += by_features[i, c] * own[i]
    for i in range(len(alpha)):
        cap = band.cap[first + i] if len(band.cap) > 1 else band.cap[0]
        alpha[i] = f4(0) if alpha[i] > cap else band.unit * by_alpha[i]
    add_numbers(x, first, band.grid, alpha, by_values, buffers)


@kernel(fastmath=FAST)
def fourier_mlp_gradient(
    x: Any, y: Any, loss: Loss, waves: Waves | None, band: Band | None, values: Any, network: Perceptron, flat: Any,
    by_values: Any, by_flat: Any,
) -> float:  # fmt: skip
    """The loss of all points; adds its gradient to by_values and by_flat.

    x: d arrays (n,). y: (n, c) or (n, c + 1). flat: where `network.starts` count. waves: None if the perceptron sees
    coordinates alone. band: None if there is no filter; values: A, (nodes,). by_values: as large, or empty if
    its gradient is not wanted. Of what is None nothing is compiled.
    """
    sizes, dims, points = network.sizes, len(x), len(y)
    inputs, skip = sizes[0], dims if network.coordinates else 0
    layers = load_layers(flat, network.starts, sizes, layers_of(empty_layers(1, sizes), 0))
    blocks = block_buffers(sizes, network.kind)
    features = np.empty((BLOCK, whole_vectors(inputs)), f4)
    if waves is not None:
        sines, cosines = np.empty((len(waves.rates), BLOCK), f4), np.empty((len(waves.rates), BLOCK), f4)
        zeros = np.zeros(BLOCK, np.float32)
    if band is not None:
        buffers, alpha, capped = corner_buffers(dims), np.empty(BLOCK, f4), np.empty(BLOCK, f4)
        slopes = np.empty((inputs - skip, BLOCK), f4)
    by_features = np.empty((BLOCK if len(by_values) > 0 else 0, whole_vectors(inputs)), f4)
    total = 0.0
    for first in range(0, points, BLOCK):
        m = min(BLOCK, points - first)
        for k in range(skip):
            for i in range(m):
                features[i, k] = x[k][first + i]
        if band is not None:
            _read_alpha(x, first, band, values, alpha[:m], capped, buffers)
        if waves is not None:
            _waves(x, first, m, waves, sines, cosines, zeros)
            for wave in range(len(sines)):
                for part in range(2):
                    own, channel = (cosines if part else sines)[wave], wave * waves.step + part * waves.offset
                    if band is not None:
                        _pass_band(channel, capped[:m], band, own, slopes[channel])
                    for i in range(m):
                        features[i, skip + channel] = own[i]
        by_block = by_features[:m, 0:]
        total += block_gradient(features[:m, :inputs], y, first, loss, network, layers, blocks, by_block)
        if band is not None and len(by_values) > 0:
            _add_alpha(x, first, band, by_features[:m, skip:], slopes, alpha[:m], by_values, buffers)
    add_gradient(layers, network.starts, sizes, by_flat)
    return total
