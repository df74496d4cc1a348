"""A whole perceptron over a block of points at a time, both ways: products, biases and activations while they are hot.

The plain twin is `layers.plain_perceptron`. Numbers of all layers lie in one array, weights (o, i) then biases (o,) of
one layer after the other; sizes are the widths C, w, …, c. What the backward pass reads again, the values of hidden
layers and their slopes, are two arrays of the same layout, a layer after the other, its rows `stride` apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.elementwise import FAST, f4
from alfilter.kernels.gemm import STRIP, eights, strips, take, times, times_strips
from alfilter.kernels.rowwise import open_pass, relu_pass, shift_pass, slope_pass, sum_pass
from alfilter.kernels.sincos import sine_row

BLOCK = 96  # points: sixteen tiles of rows, and layers of up to a hundred numbers in the first caches
RELU, SINE = 0, 1


@njit(inline="always")
def stride(width: int) -> int:
    """From one row of a hidden layer to the next: a multiple of a power of two would put all rows at few places."""
    return (width + STRIP - 1) // STRIP * STRIP + STRIP


@njit(nogil=True)
def _layer(numbers: Any, sizes: Any, layer: int) -> Any:
    """Weights (o, i) and biases (o,) of a layer."""
    first = 0
    for l in range(layer):
        first += (sizes[l] + 1) * sizes[l + 1]
    inputs, outputs = sizes[layer], sizes[layer + 1]
    middle = first + inputs * outputs
    return numbers[first:middle].reshape(outputs, inputs), numbers[middle : middle + outputs]


@njit(nogil=True)
def _hidden(kept: Any, sizes: Any, layer: int, points: int) -> Any:
    """The rows of a hidden layer, 1 … depth, as wide as their stride."""
    first = 0
    for l in range(1, layer):
        first += points * stride(sizes[l])
    width = stride(sizes[layer])
    return kept[first : first + points * width].reshape(points, width)


@njit(nogil=True)
def _kept_width(sizes: Any) -> int:
    """The numbers of a row of all hidden layers."""
    total = 0
    for l in range(1, len(sizes) - 1):
        total += stride(sizes[l])
    return total


@njit(nogil=True)
def strips_room(sizes: Any, backward: bool) -> Any:
    """Where the strips of every layer's factor begin, and how many numbers they are together."""
    starts = np.zeros(len(sizes), np.int64)
    for l in range(len(sizes) - 1):
        k, n = (sizes[l + 1], sizes[l]) if backward else (sizes[l], sizes[l + 1])
        starts[l + 1] = starts[l] + (n + STRIP - 1) // STRIP * STRIP * k
    return starts


@njit(nogil=True)
def _strips_of(made: Any, starts: Any, layer: int, k: int) -> Any:
    return made[starts[layer] : starts[layer + 1]].reshape(-1, k, STRIP)


@njit(nogil=True)
def _activate(z: Any, slope: Any, first: int, end: int, bias: Any, kind: int, omega: Any) -> None:
    """z ← σ(z+b) of some rows, and its slope where σ is a sine."""
    width, step = len(bias), 4 * z.shape[1]
    values, slopes, offsets = z.ctypes.data, slope.ctypes.data, bias.ctypes.data
    if kind == SINE:
        for i in range(first, end):
            sine_row(values + i * step, offsets, omega, slopes + i * step, width)
    else:
        relu_pass(values + first * step, step, offsets, end - first, width)


@njit(nogil=True)
def _scale(g: Any, beside: Any, first: int, end: int, sums: Any, kind: int) -> None:
    """g ← g σ' of the rows from `first` to `end`, the first of which is g's first; sums += the column sums.

    beside: the slopes of a sine, the values of a ReLU.
    """
    other = 4 * beside.shape[1]
    given = g.ctypes.data, 4 * g.shape[1], beside.ctypes.data + first * other, other, sums.ctypes.data
    if kind == SINE:
        slope_pass(given[0], given[1], given[2], given[3], given[4], end - first, len(sums))
    else:
        open_pass(given[0], given[1], given[2], given[3], given[4], end - first, len(sums))


@njit(nogil=True)
def factors(numbers: Any, sizes: Any, backward: bool, made: Any) -> None:
    """The weights of all layers as strips: turned for the way forward, as they are for the way back."""
    starts = strips_room(sizes, backward)
    for l in range(len(sizes) - 1):
        weight = _layer(numbers, sizes, l)[0]
        if backward:
            strips(weight, _strips_of(made, starts, l, sizes[l + 1]))
        else:
            strips(weight.T, _strips_of(made, starts, l, sizes[l]))


@njit(fastmath=FAST, nogil=True)
def block_forward(
    source: Any,
    first: int,
    points: int,
    sizes: Any,
    numbers: Any,
    made: Any,
    kind: int,
    omega: Any,
    kept: Any,
    slopes: Any,
    ends: Any,
    wanted: bool,
) -> None:
    """All layers of a block (m, C), the rows from `first` on among `points` in kept.

    ends: (m, stride), whose first c columns become the values, if they are wanted beside the hidden layers.
    """
    layers, end, starts = len(sizes) - 1, first + len(source), strips_room(sizes, False)
    for l in range(layers):
        bias = _layer(numbers, sizes, l)[1]
        factor = _strips_of(made, starts, l, sizes[l])
        if l < layers - 1:
            z = _hidden(kept, sizes, l + 1, points)
            times_strips(source, factor, z[first:end, : eights(sizes[l + 1])])
            _activate(z, _hidden(slopes, sizes, l + 1, points) if kind == SINE else z, first, end, bias, kind, omega)
            source = z[first:end, : sizes[l + 1]]
        elif wanted:
            times_strips(source, factor, ends[: len(source), : eights(sizes[l + 1])])
            shift_pass(ends.ctypes.data, 4 * ends.shape[1], bias.ctypes.data, len(source), len(bias))


@njit(fastmath=FAST, nogil=True)
def block_backward(
    here: Any,
    there: Any,
    source: Any,
    first: int,
    points: int,
    sizes: Any,
    made: Any,
    kind: int,
    kept: Any,
    slopes: Any,
    sums: Any,
    by_source: Any,
) -> None:
    """The way back: here (m, …) holds the gradient of the block's outputs; adds to `sums`, which `in_order` reads.

    by_source (m, stride): its first C columns become the gradient of the block's inputs; with no rows, not wanted.
    """
    layers, count, starts = len(sizes) - 1, len(source), strips_room(sizes, True)
    for l in range(layers - 1, -1, -1):
        by_weight, by_bias = _layer(sums, sizes, l)
        g = here[:count, : sizes[l + 1]]
        if l < layers - 1:
            beside = _hidden(slopes if kind == SINE else kept, sizes, l + 1, points)
            _scale(here, beside, first, first + count, by_bias, kind)
        else:
            sum_pass(here.ctypes.data, 4 * here.shape[1], by_bias.ctypes.data, count, sizes[l + 1])
        below = source if l == 0 else _hidden(kept, sizes, l, points)[first : first + count, : sizes[l]]
        if sizes[l] < sizes[l + 1]:  # the narrower factor's columns are the rows of tiles, which may be few
            times(below.T, g, by_weight.reshape(sizes[l], sizes[l + 1]), True)
        else:
            times(g.T, below, by_weight, True)
        factor = _strips_of(made, starts, l, sizes[l + 1])
        if l > 0:
            times_strips(g, factor, there[:count, : eights(sizes[l])])
            here, there = there, here
        elif len(by_source) > 0:
            times_strips(g, factor, by_source[:count, : eights(sizes[0])])


@njit(nogil=True)
def in_order(sums: Any, sizes: Any) -> None:
    """The sums of `block_backward` in the order of the numbers: what was added up turned is turned back."""
    for l in range(len(sizes) - 1):
        if sizes[l] < sizes[l + 1]:
            found = _layer(sums, sizes, l)[0]
            turned = found.reshape(sizes[l], sizes[l + 1]).copy()
            for i in range(sizes[l + 1]):
                for j in range(sizes[l]):
                    found[i, j] = turned[j, i]


@njit(fastmath=FAST, cache=True, nogil=True)
def chain_forward(x: Any, sizes: Any, numbers: Any, kind: int, omega: Any, kept: Any, slopes: Any, out: Any) -> None:
    """out (n, c) = the perceptron at x (n, C); fills `kept` and, for a sine, `slopes`."""
    points = len(x)
    made = np.empty(strips_room(sizes, False)[-1], np.float32)
    factors(numbers, sizes, False, made)
    ends, width = np.empty((BLOCK, stride(sizes[-1])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), : sizes[0]]
        block_forward(block, first, points, sizes, numbers, made, kind, omega, kept, slopes, ends, True)
        take(ends.ctypes.data, ends.shape[1], out.ctypes.data + 4 * first * width, width, len(block), width)


@njit(fastmath=FAST, cache=True, nogil=True)
def chain_backward(
    grad: Any, x: Any, sizes: Any, numbers: Any, kind: int, kept: Any, slopes: Any, by_numbers: Any, by_x: Any
) -> None:
    """by_numbers += the gradient of `numbers`, from zeros; by_x (n, C) = that of x, not wanted if it has no rows."""
    points = len(x)
    made = np.empty(strips_room(sizes, True)[-1], np.float32)
    factors(numbers, sizes, True, made)
    widest = stride(max(sizes[1:]))
    here, there = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    size, width = sizes[0], sizes[-1]
    direct = size % 8 == 0  # rows of x hold whole vectors
    edge = np.empty((BLOCK if len(by_x) > 0 and not direct else 0, stride(size)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), :size]
        take(grad.ctypes.data + 4 * first * width, width, here.ctypes.data, here.shape[1], len(block), width)
        by_block = by_x[first : first + BLOCK, 0:size] if direct else edge[0:BLOCK, 0:]
        block_backward(here, there, block, first, points, sizes, made, kind, kept, slopes, by_numbers, by_block)
        if len(edge) > 0:
            take(edge.ctypes.data, edge.shape[1], by_x.ctypes.data + 4 * first * size, size, len(block), size)
    in_order(by_numbers, sizes)


@njit(fastmath=FAST, nogil=True)
def _level_inputs(features: Any, first: int, end: int, dims: int, size: int, inputs: Any) -> None:
    """inputs (L, BLOCK, d + F) = [x, g_0 + … + g_l] of features (n, d + L F)."""
    for i in range(first, end):
        for l in range(inputs.shape[0]):
            row = inputs[l, i - first]
            for k in range(dims):
                row[k] = features[i, k]
            for f in range(size):
                row[dims + f] = features[i, dims + l * size + f] + (inputs[l - 1, i - first, dims + f] if l else f4(0))


@njit(fastmath=FAST, cache=True, nogil=True)
def levels_forward(features: Any, dims: int, sizes: Any, numbers: Any, out: Any) -> None:
    """out (L, n, c) = of every level its own ReLU perceptron at [x, g_0 + … + g_l].

    features: (n, d + L F). numbers: (L, P).
    """
    levels, points = len(numbers), len(features)
    made = np.empty((levels, strips_room(sizes, False)[-1]), np.float32)
    for l in range(levels):
        factors(numbers[l], sizes, False, made[l])
    inputs = np.empty((levels, BLOCK, sizes[0]), np.float32)
    kept = np.empty(BLOCK * _kept_width(sizes), np.float32)
    ends, width = np.empty((BLOCK, stride(sizes[-1])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        _level_inputs(features, first, end, dims, sizes[0] - dims, inputs)
        for l in range(levels):
            block = inputs[l, : end - first, : sizes[0]]
            block_forward(block, 0, BLOCK, sizes, numbers[l], made[l], RELU, f4(1), kept, kept, ends, True)
            target = out.ctypes.data + 4 * (l * points + first) * width
            take(ends.ctypes.data, ends.shape[1], target, width, end - first, width)


@njit(fastmath=FAST, cache=True, nogil=True)
def levels_backward(
    grad: Any, features: Any, dims: int, sizes: Any, numbers: Any, by_numbers: Any, by_features: Any
) -> None:
    """The gradients of `levels_forward`: by_numbers += from zeros, by_features =.

    Hidden layers are computed again, block by block.
    """
    levels, points, size = len(numbers), len(features), sizes[0] - dims
    forth = np.empty((levels, strips_room(sizes, False)[-1]), np.float32)
    back = np.empty((levels, strips_room(sizes, True)[-1]), np.float32)
    for l in range(levels):
        factors(numbers[l], sizes, False, forth[l])
        factors(numbers[l], sizes, True, back[l])
    inputs = np.empty((levels, BLOCK, sizes[0]), np.float32)
    kept = np.empty(BLOCK * _kept_width(sizes), np.float32)
    widest = stride(max(sizes[1:]))
    here, there = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    by_input, width = np.empty((BLOCK, stride(sizes[0])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        _level_inputs(features, first, end, dims, size, inputs)
        for l in range(levels - 1, -1, -1):
            block = inputs[l, :count, : sizes[0]]
            block_forward(block, 0, BLOCK, sizes, numbers[l], forth[l], RELU, f4(1), kept, kept, there, False)
            given = grad.ctypes.data + 4 * (l * points + first) * width
            take(given, width, here.ctypes.data, here.shape[1], count, width)
            block_backward(here, there, block, 0, BLOCK, sizes, back[l], RELU, kept, kept, by_numbers[l], by_input)
            for i in range(count):  # a level's features are part of its sum and of all after it
                row = by_features[first + i]
                for k in range(dims):
                    row[k] = by_input[i, k] + (row[k] if l < levels - 1 else f4(0))
                for f in range(size):
                    place = dims + l * size + f
                    row[place] = by_input[i, dims + f] + (row[place + size] if l < levels - 1 else f4(0))
    for l in range(levels):
        in_order(by_numbers[l], sizes)
