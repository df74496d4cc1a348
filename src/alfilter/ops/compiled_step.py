"""What the compiled steps of `grid_mlp` and `fourier_mlp` share: a perceptron as data, and where its numbers lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from alfilter.core.layers import Layers
from alfilter.kernels.dispatch import can_use_kernels
from alfilter.ops.mlp import BLOCKED_ACTIVATIONS, can_block


@dataclass(frozen=True)
class Perceptrons:
    """A perceptron on the features; or by level, one for each of them on [x, g_1 + … + g_l]."""

    layers: Sequence[Layers]
    activation: str = "relu"
    omega: float = 1.0
    by_level: bool = False

    def tensors(self) -> list[Tensor]:
        """Weights and biases of all."""
        return [t for perceptron in self.layers for layer in perceptron for t in layer]

    def has_kernel(self) -> bool:
        """Whether compiled steps can do these widths and this activation."""
        weights = [[weight for weight, _ in perceptron] for perceptron in self.layers]
        return all(len(each) > 1 and can_block(self.activation, each) for each in weights)


def can_compile(tensors: Sequence[Tensor]) -> bool:
    """Whether compiled steps can read these numbers: on this device, in this precision."""
    return all(t.is_contiguous() and can_use_kernels(t.detach().view(1, -1)) for t in tensors)


class FlatNumbers:
    """All learned numbers of a field in one piece of memory, (total,), and their gradient, laid out alike."""

    def __init__(self, numbers: Tensor, gradient: Tensor) -> None:
        self.values, self.gradient = numbers.numpy(), gradient.numpy()
        self._begin = numbers.data_ptr()

    def start(self, tensor: Tensor) -> int:
        """Where a tensor begins."""
        return (tensor.data_ptr() - self._begin) // tensor.element_size()

    def rows(self, tensor: Tensor, width: int) -> tuple[Any, Any]:
        """A tensor's rows, and their gradient's."""
        part = slice(self.start(tensor), self.start(tensor) + tensor.numel())
        return self.values[part].reshape(-1, width), self.gradient[part].reshape(-1, width)

    def network(self, kernels: Any, network: Perceptrons, coordinates: bool) -> Any:
        """The network as kernels read it. coordinates: whether x comes before the features."""
        starts = [[self.start(t) for layer in perceptron for t in layer] for perceptron in network.layers]
        sizes = np.array([network.layers[0][0][0].shape[1], *(len(weight) for weight, _ in network.layers[0])])
        return kernels.Perceptron(
            sizes,
            np.array(starts if network.by_level else starts[0]),
            BLOCKED_ACTIVATIONS[network.activation],
            np.float32(network.omega),
            coordinates,
        )
