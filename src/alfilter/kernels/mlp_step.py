"""What compiled training steps share: a perceptron's loss and gradient, block by block, while it is in cache.

A block of points passes all layers, its loss is known, and it passes them backwards before the next block begins: no
activation is written to memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from alfilter.kernels.jit import FAST, f4
from alfilter.kernels.mlp import (
    BLOCK,
    SINE,
    block_backward,
    block_forward,
    hidden_width,
    pack_weights,
    panel_offsets,
    restore_weight_order,
    stride,
    widest_row,
)


class Loss(NamedTuple):
    """factor w_i Σ_c |shift_c + scale_c z_ic - y_ic|^power, with w_i in the last column of y if weighted, else 1."""

    power: Any
    weighted: Any
    factor: Any
    shift: Any
    scale: Any


class Perceptron(NamedTuple):
    """sizes: (layers + 1,), inputs to outputs. starts: (2 layers,), where weights and biases of each layer begin.

    coordinates: whether x comes before the features. kind, omega: of the activation.
    """

    sizes: Any
    starts: Any
    kind: Any
    omega: Any
    coordinates: Any


@njit(nogil=True)
def network_size(sizes: Any) -> int:
    """Weights and biases of all layers."""
    total = 0
    for l in range(len(sizes) - 1):
        total += (sizes[l] + 1) * sizes[l + 1]
    return total


@njit(nogil=True)
def _collect(flat: Any, starts: Any, sizes: Any, out: Any) -> None:
    """Weights and biases of all layers in one array, as `kernels.mlp` reads them."""
    at = 0
    for l in range(len(sizes) - 1):
        for part, count in enumerate((sizes[l] * sizes[l + 1], sizes[l + 1])):
            first = starts[2 * l + part]
            source, own = flat[first : first + count], out[at : at + count]  # indices that cannot wrap around: vectors
            for i in range(count):
                own[i] = source[i]
            at += count


@njit(nogil=True)
def _distribute(params: Any, starts: Any, sizes: Any, flat: Any) -> None:
    """flat += what `_collect` would take from it."""
    at = 0
    for l in range(len(sizes) - 1):
        for part, count in enumerate((sizes[l] * sizes[l + 1], sizes[l + 1])):
            first = starts[2 * l + part]
            total, own = flat[first : first + count], params[at : at + count]
            for i in range(count):
                total[i] += own[i]
            at += count


@njit(fastmath=FAST, nogil=True)
def loss_block(output: Any, y: Any, first: int, count: int, loss: Loss, grad: Any) -> float:
    """The loss of a block of outputs (m, c …), as a double; grad (m, c …) = its gradient by them."""
    total, channels = 0.0, len(loss.shift)
    for i in range(count):
        weight = loss.factor * (y[first + i, channels] if loss.weighted else f4(1))
        for c in range(channels):
            error = loss.shift[c] + loss.scale[c] * output[i, c] - y[first + i, c]
            if loss.power == 2:
                total += np.float64(weight * error * error)
                grad[i, c] = f4(2) * weight * error * loss.scale[c]
            else:
                total += np.float64(weight * abs(error))
                grad[i, c] = weight * np.sign(error) * loss.scale[c]
    return total


class Layers(NamedTuple):
    """A perceptron's numbers, packed for both directions, and the sums of its gradient; or rows of several."""

    params: Any
    forward: Any
    backward: Any
    sums: Any


class Buffers(NamedTuple):
    """Memory for a block: hidden layers and their slopes, gradients from layer to layer, outputs."""

    hidden: Any
    slopes: Any
    grad: Any
    spare: Any
    output: Any


@njit(nogil=True)
def empty_layers(count: int, sizes: Any) -> Layers:
    """Memory for several perceptrons; the sums are zero."""
    size = network_size(sizes)
    return Layers(
        np.empty((count, size), f4),
        np.empty((count, panel_offsets(sizes, False)[-1]), f4),
        np.empty((count, panel_offsets(sizes, True)[-1]), f4),
        np.zeros((count, size), np.float32),
    )


@njit(nogil=True)
def layers_of(several: Layers, number: int) -> Layers:
    """One of several perceptrons."""
    return Layers(several.params[number], several.forward[number], several.backward[number], several.sums[number])


@njit(nogil=True)
def load_layers(flat: Any, starts: Any, sizes: Any, layers: Layers) -> Layers:
    """The perceptron whose numbers lie there, packed."""
    _collect(flat, starts, sizes, layers.params)
    pack_weights(layers.params, sizes, False, layers.forward)
    pack_weights(layers.params, sizes, True, layers.backward)
    return layers


@njit(nogil=True)
def block_buffers(sizes: Any, kind: int) -> Buffers:
    """Memory for `block_gradient`."""
    widest, hidden = widest_row(sizes), BLOCK * hidden_width(sizes)
    return Buffers(
        np.empty(hidden, f4),
        np.empty(hidden if kind == SINE else 0, f4),
        np.empty((BLOCK, widest), f4),
        np.empty((BLOCK, widest), f4),
        np.empty((BLOCK, stride(sizes[-1])), f4),
    )


@njit(fastmath=FAST, nogil=True)
def block_gradient(
    block: Any, y: Any, first: int, loss: Loss, network: Perceptron, layers: Layers, buffers: Buffers, by_block: Any
) -> float:
    """The loss of a block (m, C), whose targets begin at row `first`; adds its gradient to the layers' sums.

    by_block (m, …): the gradient of the block; not computed if it has no rows.
    """
    hidden, slopes, grad, spare, output = buffers
    sizes, kind = network.sizes, network.kind
    block_forward(
        block, 0, BLOCK, sizes, layers.params, layers.forward, kind, network.omega, hidden, slopes, output, True
    )
    total = loss_block(output, y, first, len(block), loss, grad)
    block_backward(grad, spare, block, 0, BLOCK, sizes, layers.backward, kind, hidden, slopes, layers.sums, by_block)
    return total


@njit(nogil=True)
def add_gradient(layers: Layers, starts: Any, sizes: Any, by_flat: Any) -> None:
    """by_flat += the sums of all blocks."""
    restore_weight_order(layers.sums, sizes)
    _distribute(layers.sums, starts, sizes, by_flat)
