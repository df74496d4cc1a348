"""A grid's features, a filter on its levels, a perceptron and the loss as one compiled call that gives all gradients.

What a training step of a grid spends beside its arithmetic is Python, autograd and memory traffic. Here a worker makes
one call per step: values, loss and the gradients of table, α, weights and biases, added to where they are summed up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from alfilter.core.hash_grid import PRIMES, Layout
from alfilter.core.residual_loss import ResidualLoss
from alfilter.kernels.dispatch import load_kernels
from alfilter.ops.compiled_step import FlatNumbers, Perceptrons, can_compile
from alfilter.ops.grid_lookup import columns, kernel_levels, level_edges

_NONE = np.empty(0, np.float32)


@dataclass(frozen=True)
class LevelFilter:
    """H_j = σ(κ(α - j + ½)) on the levels j = 0, …, L-1, with α(x) = unit · I(x; A).

    values: A, (R_1, …, R_d, 1).
    """

    values: Tensor
    unit: float
    kappa: float


@dataclass(frozen=True)
class GridFeatures:
    """What `grid_lookup.lookup` or `filtered_lookup` would be called with, at whatever places."""

    table: Tensor
    layout: Layout
    nodes: Tensor | None = None
    snap: float = 0.0
    coordinates: bool = False
    filter: LevelFilter | None = None

    def field(self, network: Perceptrons, shift: Tensor, scale: Tensor) -> GridField:
        """The field of a network on these features."""
        return GridField(self, network, shift, scale)


@dataclass(frozen=True)
class GridField:
    """v(x) = shift + scale ⊙ network(features(x)). shift, scale: (c,)."""

    features: GridFeatures
    network: Perceptrons
    shift: Tensor
    scale: Tensor

    def tensors(self) -> list[Tensor]:
        """Everything that is learned."""
        features = [self.features.table, *([self.features.filter.values] if self.features.filter else [])]
        return [*features, *self.network.tensors()]

    def has_kernel(self) -> bool:
        """Whether `GridGradient` can do it: on this device, in this precision, with these widths."""
        network, features = self.network, self.features
        return (
            can_compile(self.tensors())
            and network.has_kernel()
            and features.layout.dims <= len(PRIMES)
            and not (network.by_level and (network.activation != "relu" or features.filter or not features.coordinates))
            and not (features.filter and features.nodes is not None)
        )

    def gradient(self, loss: ResidualLoss, numbers: Tensor, gradient: Tensor) -> GridGradient:
        """The compiled gradient of a loss, see `GridGradient`; only if there is a kernel."""
        return GridGradient(self, loss, numbers, gradient)


class GridGradient:
    """The loss of samples on a grid field and its gradient, in one compiled call that other threads can run beside.

    numbers: all learned tensors in one piece of memory, (total,). gradient: laid out alike; every call adds to it.

    >>> import torch
    >>> table, weight = torch.tensor([1.0, 3.0]), torch.ones(4)
    >>> numbers = torch.cat((table, weight))
    >>> layers = [(numbers[2:3].view(1, 1), numbers[3:4]), (numbers[4:5].view(1, 1), numbers[5:6])]
    >>> features = GridFeatures(numbers[:2].view(2, 1), Layout.of([(1,)]))
    >>> field = GridField(features, Perceptrons([layers]), torch.zeros(1), torch.ones(1))
    >>> gradient = torch.zeros(6)
    >>> GridGradient(field, ResidualLoss(), numbers, gradient)(torch.zeros(1, 1), torch.ones(1, 1), 1.0)
    9.0
    >>> gradient
    tensor([ 3.,  3., 12.,  6., 18.,  6.])
    """

    def __init__(self, field: GridField, loss: ResidualLoss, numbers: Tensor, gradient: Tensor) -> None:
        self.loss, self.by_level = loss, field.network.by_level
        self._kernels = load_kernels("grid_mlp")
        self._range = field.shift.numpy(), field.scale.numpy()
        self._flat = FlatNumbers(numbers, gradient)
        features, network = field.features, field.network
        levels = kernel_levels(features.layout, features.nodes, features.snap)
        self._table, self._by_table = self._flat.rows(features.table, features.table.shape[1])
        self._levels, self._filter = levels, features.filter
        if features.filter is not None:
            cells = tuple(size - 1 for size in features.filter.values.shape[:-1])
            edges = level_edges(features.layout.levels)
            self._alpha_grid = kernel_levels(Layout.of([cells])), np.float32(features.filter.unit)
            self._edges, self._values = (
                (np.float32(features.filter.kappa), edges),
                self._flat.rows(features.filter.values, 1),
            )
        else:
            self._values = _NONE.reshape(0, 1), _NONE.reshape(0, 1)
        self._network = self._flat.network(self._kernels, network, features.coordinates)

    def __call__(self, x: Tensor, y: Tensor, factor: float, cap: Tensor | None = None, settled: bool = False) -> float:
        """factor times the loss at x (n, d) with targets y (n, c), or (n, c + 1) if weighted.

        cap: the most that α is read as, () for all points or (n,) for each. settled: without the gradient of α.
        """
        if len(x) == 0:
            return 0.0
        loss = self._kernels.Loss(
            self.loss.power, self.loss.weighted, np.float32(self.loss.factor * factor), *self._range
        )
        points = columns(x), y.contiguous().numpy(), 0, len(x), loss, self._levels, self._table
        if self.by_level:
            return float(
                self._kernels.grid_decoders_gradient(
                    *points, self._network, self._flat.values, self._by_table, self._flat.gradient
                )
            )
        level_filter = None
        if self._filter is not None:
            caps = np.full(1, np.inf, np.float32) if cap is None else cap.reshape(-1).contiguous().numpy()
            level_filter = self._kernels.Filter(*self._alpha_grid, *self._edges, caps)
        values, by_values = self._values
        return float(
            self._kernels.grid_mlp_gradient(
                *points,
                level_filter,
                values,
                self._network,
                self._flat.values,
                self._by_table,
                by_values[:0] if settled else by_values,
                self._flat.gradient,
            )
        )
