"""A whole perceptron over a block of points at a time, forward and backward, while its layers are in cache.

The plain version is `core.layers.perceptron`. `params` holds all layers in one array, weights (o, i) then biases (o,),
layer after layer; `sizes` are the widths C, w, …, c. The backward pass reads the values of the hidden layers (`hidden`)
and their slopes (`slopes`), two arrays of the same layout: layer after layer, rows `stride` apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from alfilter.kernels.gemm import PANEL, copy_block, gemm, gemm_packed, pack_panels, whole_vectors
from alfilter.kernels.jit import FAST, f4, kernel
from alfilter.kernels.llvm import LANES
from alfilter.kernels.rowwise import add_bias, add_bias_relu, add_column_sums, relu_backward, slope_backward
from alfilter.kernels.sincos import sine_row

BLOCK = 96  # points: whole tiles of rows; layers of up to a hundred neurons fit the first cache
RELU, SINE = 0, 1


def row_stride(width: int) -> int:
    """Numbers from one row of a hidden layer to the next; with a power of two, rows would share few cache sets."""
    return (width + PANEL - 1) // PANEL * PANEL + PANEL


stride = njit(inline="always")(row_stride)


@njit(nogil=True)
def widest_row(sizes: Any) -> int:
    """The stride of the widest layer."""
    widest = 0
    for l in range(1, len(sizes)):
        widest = max(widest, sizes[l])
    return stride(widest)


@njit(nogil=True)
def _layer(params: Any, sizes: Any, layer: int) -> Any:
    """Weights (o, i) and biases (o,) of a layer."""
    first = 0
    for l in range(layer):
        first += (sizes[l] + 1) * sizes[l + 1]
    inputs, outputs = sizes[layer], sizes[layer + 1]
    middle = first + inputs * outputs
    return params[first:middle].reshape(outputs, inputs), params[middle : middle + outputs]


@njit(nogil=True)
def _hidden_rows(hidden: Any, sizes: Any, layer: int, points: int) -> Any:
    """The rows of hidden layer 1 … depth: (points, stride)."""
    first = 0
    for l in range(1, layer):
        first += points * stride(sizes[l])
    width = stride(sizes[layer])
    return hidden[first : first + points * width].reshape(points, width)


@njit(nogil=True)
def hidden_width(sizes: Any) -> int:
    """Numbers per point in all hidden layers."""
    total = 0
    for l in range(1, len(sizes) - 1):
        total += stride(sizes[l])
    return total


@njit(nogil=True)
def panel_offsets(sizes: Any, backward: bool) -> Any:
    """Where the panels of every layer begin; the last entry is their total size."""
    starts = np.zeros(len(sizes), np.int64)
    for l in range(len(sizes) - 1):
        k, n = (sizes[l + 1], sizes[l]) if backward else (sizes[l], sizes[l + 1])
        starts[l + 1] = starts[l] + (n + PANEL - 1) // PANEL * PANEL * k
    return starts


@njit(nogil=True)
def _layer_panels(panels: Any, starts: Any, layer: int, k: int) -> Any:
    return panels[starts[layer] : starts[layer + 1]].reshape(-1, k, PANEL)


@njit(nogil=True)
def _activate(z: Any, slope: Any, first: int, end: int, bias: Any, kind: int, omega: Any) -> None:
    """z ← σ(z+b) of rows first … end, and its slope if σ is a sine."""
    width, step = len(bias), 4 * z.shape[1]
    values, slopes, offsets = z.ctypes.data, slope.ctypes.data, bias.ctypes.data
    if kind == SINE:
        for i in range(first, end):
            sine_row(values + i * step, offsets, omega, slopes + i * step, width)
    else:
        add_bias_relu(values + first * step, step, offsets, end - first, width)


@njit(nogil=True)
def _activation_backward(g: Any, saved: Any, first: int, end: int, sums: Any, kind: int) -> None:
    """g ← g ⊙ σ'; sums += the column sums.

    saved: the slopes of a sine or the values of a ReLU, whose rows first … end belong to g.
    """
    step, saved_step, total = 4 * g.shape[1], 4 * saved.shape[1], sums.ctypes.data
    start = saved.ctypes.data + first * saved_step
    if kind == SINE:
        slope_backward(g.ctypes.data, step, start, saved_step, total, end - first, len(sums))
    else:
        relu_backward(g.ctypes.data, step, start, saved_step, total, end - first, len(sums))


@njit(nogil=True)
def pack_weights(params: Any, sizes: Any, backward: bool, panels: Any) -> None:
    """Pack the weights of all layers into panels: transposed for the forward pass, as they are for the backward."""
    starts = panel_offsets(sizes, backward)
    for l in range(len(sizes) - 1):
        weight = _layer(params, sizes, l)[0]
        if backward:
            pack_panels(weight, _layer_panels(panels, starts, l, sizes[l + 1]))
        else:
            pack_panels(weight.T, _layer_panels(panels, starts, l, sizes[l]))


@njit(fastmath=FAST, nogil=True)
def block_forward(
    source: Any,
    first: int,
    points: int,
    sizes: Any,
    params: Any,
    panels: Any,
    kind: int,
    omega: Any,
    hidden: Any,
    slopes: Any,
    output: Any,
    with_output: bool,
) -> None:
    """All layers of a block (m, C), which is rows first … first+m of `points` in `hidden`.

    output: (m, stride), whose first c columns become the values; left alone without `with_output`.
    """
    layers, end, starts = len(sizes) - 1, first + len(source), panel_offsets(sizes, False)
    for l in range(layers):
        bias = _layer(params, sizes, l)[1]
        factor = _layer_panels(panels, starts, l, sizes[l])
        if l < layers - 1:
            z = _hidden_rows(hidden, sizes, l + 1, points)
            gemm_packed(source, factor, z[first:end, : whole_vectors(sizes[l + 1])])
            _activate(
                z, _hidden_rows(slopes, sizes, l + 1, points) if kind == SINE else z, first, end, bias, kind, omega
            )
            source = z[first:end, : sizes[l + 1]]
        elif with_output:
            gemm_packed(source, factor, output[: len(source), : whole_vectors(sizes[l + 1])])
            add_bias(output.ctypes.data, 4 * output.shape[1], bias.ctypes.data, len(source), len(bias))


@njit(fastmath=FAST, nogil=True)
def block_backward(
    grad: Any,
    spare: Any,
    source: Any,
    first: int,
    points: int,
    sizes: Any,
    panels: Any,
    kind: int,
    hidden: Any,
    slopes: Any,
    sums: Any,
    by_source: Any,
) -> None:
    """From grad (m, …) of the block's outputs; adds to `sums`, which `restore_weight_order` finishes.

    spare: a buffer like grad. by_source (m, stride): its first C columns become the gradient of the block's inputs; not
    computed if it has no rows.
    """
    layers, count, starts = len(sizes) - 1, len(source), panel_offsets(sizes, True)
    for l in range(layers - 1, -1, -1):
        by_weight, by_bias = _layer(sums, sizes, l)
        g = grad[:count, : sizes[l + 1]]
        if l < layers - 1:
            saved = _hidden_rows(slopes if kind == SINE else hidden, sizes, l + 1, points)
            _activation_backward(grad, saved, first, first + count, by_bias, kind)
        else:
            add_column_sums(grad.ctypes.data, 4 * grad.shape[1], by_bias.ctypes.data, count, sizes[l + 1])
        below = source if l == 0 else _hidden_rows(hidden, sizes, l, points)[first : first + count, : sizes[l]]
        if sizes[l] < sizes[l + 1]:  # the narrower factor's columns are the rows of tiles, which may be few
            gemm(below.T, g, by_weight.reshape(sizes[l], sizes[l + 1]), True)
        else:
            gemm(g.T, below, by_weight, True)
        factor = _layer_panels(panels, starts, l, sizes[l + 1])
        if l > 0:
            gemm_packed(g, factor, spare[:count, : whole_vectors(sizes[l])])
            grad, spare = spare, grad
        elif len(by_source) > 0:
            gemm_packed(g, factor, by_source[:count, : whole_vectors(sizes[0])])


@njit(nogil=True)
def restore_weight_order(sums: Any, sizes: Any) -> None:
    """Bring the sums of `block_backward` into the layout of `params`: transposed sums are transposed back."""
    for l in range(len(sizes) - 1):
        if sizes[l] < sizes[l + 1]:
            by_weight = _layer(sums, sizes, l)[0]
            inputs, outputs = sizes[l], sizes[l + 1]
            transposed, flat = np.empty(inputs * outputs, np.float32), by_weight.reshape(inputs * outputs)
            for i in range(len(flat)):
                transposed[i] = flat[i]
            for i in range(outputs):
                for j in range(inputs):
                    by_weight[i, j] = transposed[j * outputs + i]


@kernel(fastmath=FAST)
def mlp_forward(x: Any, sizes: Any, params: Any, kind: int, omega: Any, hidden: Any, slopes: Any, out: Any) -> None:
    """out (n, c) = the perceptron at x (n, C); fills `hidden` and, for a sine, `slopes`."""
    points = len(x)
    panels = np.empty(panel_offsets(sizes, False)[-1], np.float32)
    pack_weights(params, sizes, False, panels)
    output, width = np.empty((BLOCK, stride(sizes[-1])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), : sizes[0]]
        block_forward(block, first, points, sizes, params, panels, kind, omega, hidden, slopes, output, True)
        copy_block(output.ctypes.data, output.shape[1], out.ctypes.data + 4 * first * width, width, len(block), width)


@kernel(fastmath=FAST)
def mlp_backward(
    grad: Any, x: Any, sizes: Any, params: Any, kind: int, hidden: Any, slopes: Any, by_params: Any, by_x: Any
) -> None:
    """by_params, zeros, += the gradient of `params`; by_x (n, C) = that of x, not computed if it has no rows."""
    points = len(x)
    panels = np.empty(panel_offsets(sizes, True)[-1], np.float32)
    pack_weights(params, sizes, True, panels)
    widest = widest_row(sizes)
    block_grad, spare = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    size, width = sizes[0], sizes[-1]
    direct = size % LANES == 0  # rows of x are whole vectors
    edge = np.empty((BLOCK if len(by_x) > 0 and not direct else 0, stride(size)), np.float32)
    for first in range(0, points, BLOCK):
        block = x[first : min(first + BLOCK, points), :size]
        copy_block(
            grad.ctypes.data + 4 * first * width, width, block_grad.ctypes.data, block_grad.shape[1], len(block), width
        )
        by_block = by_x[first : first + BLOCK, 0:size] if direct else edge[0:BLOCK, 0:]
        block_backward(
            block_grad, spare, block, first, points, sizes, panels, kind, hidden, slopes, by_params, by_block
        )
        if len(edge) > 0:
            copy_block(edge.ctypes.data, edge.shape[1], by_x.ctypes.data + 4 * first * size, size, len(block), size)
    restore_weight_order(by_params, sizes)


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


@kernel(fastmath=FAST)
def level_decoders_forward(features: Any, dims: int, sizes: Any, params: Any, out: Any) -> None:
    """out (L, n, c) = of every level its own ReLU perceptron at [x, g_0 + … + g_l].

    features: (n, d + L F). params: (L, P).
    """
    levels, points = len(params), len(features)
    panels = np.empty((levels, panel_offsets(sizes, False)[-1]), np.float32)
    for l in range(levels):
        pack_weights(params[l], sizes, False, panels[l])
    inputs = np.empty((levels, BLOCK, sizes[0]), np.float32)
    hidden = np.empty(BLOCK * hidden_width(sizes), np.float32)
    output, width = np.empty((BLOCK, stride(sizes[-1])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        _level_inputs(features, first, end, dims, sizes[0] - dims, inputs)
        for l in range(levels):
            block = inputs[l, : end - first, : sizes[0]]
            block_forward(block, 0, BLOCK, sizes, params[l], panels[l], RELU, f4(1), hidden, hidden, output, True)
            target = out.ctypes.data + 4 * (l * points + first) * width
            copy_block(output.ctypes.data, output.shape[1], target, width, end - first, width)


@kernel(fastmath=FAST)
def level_decoders_backward(
    grad: Any, features: Any, dims: int, sizes: Any, params: Any, by_params: Any, by_features: Any
) -> None:
    """The gradients of `level_decoders_forward`: by_params, zeros, is added to, by_features is written.

    Hidden layers are recomputed, block by block.
    """
    levels, points, size = len(params), len(features), sizes[0] - dims
    forward_panels = np.empty((levels, panel_offsets(sizes, False)[-1]), np.float32)
    backward_panels = np.empty((levels, panel_offsets(sizes, True)[-1]), np.float32)
    for l in range(levels):
        pack_weights(params[l], sizes, False, forward_panels[l])
        pack_weights(params[l], sizes, True, backward_panels[l])
    inputs = np.empty((levels, BLOCK, sizes[0]), np.float32)
    hidden = np.empty(BLOCK * hidden_width(sizes), np.float32)
    widest = widest_row(sizes)
    block_grad, spare = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    by_input, width = np.empty((BLOCK, stride(sizes[0])), np.float32), sizes[-1]
    for first in range(0, points, BLOCK):
        end = min(first + BLOCK, points)
        count = end - first
        _level_inputs(features, first, end, dims, size, inputs)
        for l in range(levels - 1, -1, -1):
            block = inputs[l, :count, : sizes[0]]
            block_forward(
                block, 0, BLOCK, sizes, params[l], forward_panels[l], RELU, f4(1), hidden, hidden, spare, False
            )
            start = grad.ctypes.data + 4 * (l * points + first) * width
            copy_block(start, width, block_grad.ctypes.data, block_grad.shape[1], count, width)
            block_backward(
                block_grad,
                spare,
                block,
                0,
                BLOCK,
                sizes,
                backward_panels[l],
                RELU,
                hidden,
                hidden,
                by_params[l],
                by_input,
            )
            for i in range(count):  # a level's features are part of its own sum and of all later ones
                row = by_features[first + i]
                for k in range(dims):
                    row[k] = by_input[i, k] + (row[k] if l < levels - 1 else f4(0))
                for f in range(size):
                    place = dims + l * size + f
                    row[place] = by_input[i, dims + f] + (row[place + size] if l < levels - 1 else f4(0))
    for l in range(levels):
        restore_weight_order(by_params[l], sizes)
