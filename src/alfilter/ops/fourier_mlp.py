"""Fourier features, the band filter on them, a perceptron and the loss as one compiled call that gives all gradients.

A step of a few thousand samples takes milliseconds: what it spends on Python, autograd and on writing activations to
memory then counts. Here a worker makes one call per piece of samples, as `grid_mlp` does for grids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from alfilter.core.hash_grid import PRIMES, Layout
from alfilter.core.residual_loss import ResidualLoss
from alfilter.kernels.dispatch import current_way, load_kernels
from alfilter.ops.compiled_step import FlatNumbers, Perceptrons, can_compile
from alfilter.ops.grid_lookup import columns, kernel_levels

_NONE = np.empty(0, np.float32)


@dataclass(frozen=True)
class BandFilter:
    """H_B(α) on the channels, with α(x) = unit · I(x; A). values: A, (R_1, …, R_d, 1)."""

    values: Tensor
    unit: float
    bandwidth: float
    kappa: float


@dataclass(frozen=True)
class FourierFeatures:
    """sin θ and cos θ of θ = rates (scale ⊙ x + shift), a filter on them, and coordinates before them.

    rates: (M, d), without rows where there are coordinates alone. scale: one number, or one along each axis.
    interleaved: sin θ_1, cos θ_1, sin θ_2, …; else all sines come first.
    """

    rates: Tensor
    scale: tuple[float, ...] = (1.0,)
    shift: float = 0.0
    interleaved: bool = True
    coordinates: bool = False
    filter: BandFilter | None = None

    def field(self, network: Perceptrons, shift: Tensor, scale: Tensor) -> FourierField:
        """The field of a network on these features."""
        return FourierField(self, network, shift, scale)


@dataclass(frozen=True)
class FourierField:
    """v(x) = shift + scale ⊙ network(features(x)). shift, scale: (c,)."""

    features: FourierFeatures
    network: Perceptrons
    shift: Tensor
    scale: Tensor

    def tensors(self) -> list[Tensor]:
        """Everything that is learned."""
        return [*([self.features.filter.values] if self.features.filter else []), *self.network.tensors()]

    def has_kernel(self) -> bool:
        """Whether `FourierGradient` can do it, and networks are computed in blocks of points."""
        own = self.features.filter
        return (
            current_way() == "blocks"
            and can_compile(self.tensors())
            and self.network.has_kernel()
            and not self.network.by_level
            and (own is None or own.values.dim() - 1 <= len(PRIMES))
        )

    def gradient(self, loss: ResidualLoss, numbers: Tensor, gradient: Tensor) -> FourierGradient:
        """The compiled gradient of a loss, see `FourierGradient`; only if there is a kernel."""
        return FourierGradient(self, loss, numbers, gradient)


class FourierGradient:
    """The loss of samples on a field and its gradient, in one compiled call that other threads can run beside.

    numbers: all learned tensors in one piece of memory, (total,). gradient: laid out alike; every call adds to it.

    >>> import torch
    >>> numbers = torch.ones(4)
    >>> layers = [(numbers[0:1].view(1, 1), numbers[1:2]), (numbers[2:3].view(1, 1), numbers[3:4])]
    >>> features = FourierFeatures(torch.zeros(0, 1), coordinates=True)
    >>> field = FourierField(features, Perceptrons([layers]), torch.zeros(1), torch.ones(1))
    >>> gradient = torch.zeros(4)
    >>> FourierGradient(field, ResidualLoss(), numbers, gradient)(torch.ones(1, 1), torch.zeros(1, 1), 1.0)
    9.0
    >>> gradient
    tensor([ 6.,  6., 12.,  6.])
    """

    def __init__(self, field: FourierField, loss: ResidualLoss, numbers: Tensor, gradient: Tensor) -> None:
        self.loss, self._filter = loss, field.features.filter
        self._kernels = load_kernels("fourier_mlp")
        self._range = field.shift.numpy(), field.scale.numpy()
        self._flat = FlatNumbers(numbers, gradient)
        features, own = field.features, field.features.filter
        self._network = self._flat.network(self._kernels, field.network, features.coordinates)
        count, dims = features.rates.shape
        step, offset = (2, 1) if features.interleaved else (1, count)
        scale = np.broadcast_to(np.array(features.scale, np.float32), (dims,)).copy()
        rates = features.rates.contiguous().numpy()
        self._waves = self._kernels.Waves(rates, scale, np.float32(features.shift), step, offset) if count else None
        self._values = _NONE, _NONE
        if own is not None:
            grid = kernel_levels(Layout.of([tuple(size - 1 for size in own.values.shape[:-1])]))
            peak = -math.expm1(-own.kappa * own.bandwidth)
            self._band = grid, *(np.float32(v) for v in (own.unit, own.bandwidth / 2, own.kappa, peak))
            self._values = tuple(rows.reshape(-1) for rows in self._flat.rows(own.values, 1))

    def __call__(self, x: Tensor, y: Tensor, factor: float, cap: Tensor | None = None, settled: bool = False) -> float:
        """factor times the loss at x (n, d) with targets y (n, c), or (n, c + 1) if weighted.

        cap: the most that α is read as, () for all points or (n,) for each. settled: without the gradient of α.
        """
        if len(x) == 0:
            return 0.0
        loss = self._kernels.Loss(
            self.loss.power, self.loss.weighted, np.float32(self.loss.factor * factor), *self._range
        )
        band = None
        if self._filter is not None:
            caps = np.full(1, np.inf, np.float32) if cap is None else cap.reshape(-1).contiguous().numpy()
            band = self._kernels.Band(*self._band, caps)
        values, by_values = self._values
        filtered = self._waves, band, values, self._network, self._flat.values
        sums = by_values[:0] if settled else by_values, self._flat.gradient
        return float(self._kernels.fourier_mlp_gradient(columns(x), y.contiguous().numpy(), loss, *filtered, *sums))
