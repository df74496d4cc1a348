"""Every network as ONNX operations: counterparts of their `forward`, from features (n, C) to values (n, c)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from alfilter.export.graph import Graph
from alfilter.networks import MFN, MLP, Bacon, ComplexWavelet, FilterBank, LevelDecoder, Network, PolyINR

Shape = Callable[[Graph, str, float, float], str]


def values(graph: Graph, network: Network, z: str) -> str:
    """The values of a network; one that is not of this package says itself what they are, or why there are none."""
    writer = _WRITERS.get(type(network))
    return network.onnx(graph, z) if writer is None else writer(graph, network, z)


# ── activations of z = W x + b, with ω and s, as in core.activations ────────────────────────────────────────────────


def _relu(graph: Graph, z: str, omega: float, scale: float) -> str:
    return graph.op("Relu", z)


def _sine(graph: Graph, z: str, omega: float, scale: float) -> str:
    return graph.op("Sin", graph.op("Mul", z, omega))


def _gauss(graph: Graph, z: str, omega: float, scale: float) -> str:
    u = graph.op("Mul", z, scale)
    return graph.op("Exp", graph.op("Neg", graph.op("Mul", u, u)))


def _wavelet(graph: Graph, z: str, omega: float, scale: float) -> str:
    return graph.op("Mul", graph.op("Cos", graph.op("Mul", z, omega)), _gauss(graph, z, omega, scale))


def _complex_wavelet(graph: Graph, z: str, omega: float, scale: float) -> str:
    """Real parts first, imaginary ones after them, as in `core.activations.complex_wavelet`."""
    half = graph.op("Div", graph.op("Gather", graph.op("Shape", z), 1), 2)
    length, axis = graph.unsqueeze(half, 0), torch.tensor([1])
    real = graph.op("Slice", z, torch.tensor([0]), length, axis)
    imaginary = graph.op("Slice", z, length, torch.tensor([1 << 30]), axis)
    square = graph.op("Add", graph.op("Mul", real, real), graph.op("Mul", imaginary, imaginary))
    fall = graph.op("Add", graph.op("Mul", imaginary, omega), graph.op("Mul", square, scale * scale))
    size, angle = graph.op("Exp", graph.op("Neg", fall)), graph.op("Mul", real, omega)
    return graph.join(*(graph.op("Mul", size, graph.op(kind, angle)) for kind in ("Cos", "Sin")))


def _sinc(graph: Graph, z: str, omega: float, scale: float) -> str:
    u = graph.op("Mul", z, omega)
    near = graph.op("Less", graph.op("Abs", u), 0.02)  # there 1 - u²/6 is exact to float32
    away = graph.op("Where", near, 1.0, u)
    series = graph.op("Sub", 1.0, graph.op("Div", graph.op("Mul", u, u), 6.0))
    return graph.op("Where", near, series, graph.op("Div", graph.op("Sin", away), away))


def _hosc(graph: Graph, z: str, omega: float, scale: float) -> str:
    return graph.op("Tanh", graph.op("Mul", _sine(graph, z, omega, scale), scale))


def _finer(graph: Graph, z: str, omega: float, scale: float) -> str:
    faster = graph.op("Mul", graph.op("Add", graph.op("Abs", z), 1.0), omega)
    return graph.op("Sin", graph.op("Mul", faster, z))


SHAPES: dict[str, Shape] = {
    "relu": _relu,
    "sine": _sine,
    "gauss": _gauss,
    "wavelet": _wavelet,
    "complex-wavelet": _complex_wavelet,
    "sinc": _sinc,
    "hosc": _hosc,
    "finer": _finer,
    "finer-full": _finer,
}


def _perceptron(
    graph: Graph,
    z: str,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    activation: str,
    omega: float = 1.0,
    sharpness: Sequence[float] | float = 1.0,
) -> str:
    *hidden, (weight, bias) = zip(weights, biases, strict=True)
    for i, (w, b) in enumerate(hidden):
        scale = sharpness if isinstance(sharpness, float | int) else sharpness[i]
        z = SHAPES[activation](graph, graph.affine(z, w, b), float(omega), float(scale))
    return graph.affine(z, weight, bias)


# ── networks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _mlp(graph: Graph, network: MLP, z: str) -> str:
    scale = network.sharpness if network.learned is None else network.learned.tolist()
    return _perceptron(graph, z, list(network.weights), list(network.biases), network.activation, network.omega, scale)


def _complex(graph: Graph, network: ComplexWavelet, z: str) -> str:
    with torch.no_grad():
        weights, biases = network.real_layers()
    return _perceptron(graph, z, weights, biases, "complex-wavelet", network.omega, network.scale)


def _mfn(graph: Graph, network: MFN, x: str) -> str:
    *hidden, (weight, bias) = zip(network.weights, network.biases, strict=True)
    z = _mfn_filter(graph, network, 0, x)
    for i, (w, b) in enumerate(hidden, start=1):
        z = graph.op("Mul", graph.affine(z, w, b), _mfn_filter(graph, network, i, x))
    return graph.affine(z, weight, bias)


def _mfn_filter(graph: Graph, network: MFN, i: int, x: str) -> str:
    """g_i(x): a sine, under a bump for Gabor filters."""
    wave = graph.op("Sin", graph.affine(x, network.omegas[i], network.phases[i]))
    if not network.gabor:
        return wave
    centre, gamma = network.centres[i].detach(), network.gammas[i].detach()
    away = [graph.op("Sub", graph.columns(x, k), centre[:, k]) for k in range(network.in_dim)]  # (n, w) each
    distance = graph.fold("Add", [graph.op("Mul", part, part) for part in away])
    return graph.op("Mul", wave, graph.op("Exp", graph.op("Mul", distance, -0.5 * gamma)))


def _bacon(graph: Graph, network: Bacon, x: str) -> str:
    u = graph.op("Mul", graph.op("Mul", x, network.stretch), 2 * math.pi)
    waves = [graph.op("Sin", graph.affine(u, network.get_buffer(f"cycles{i}"), phase))
             for i, phase in enumerate(network.phases)]  # fmt: skip
    z = waves[0]
    for wave, w, b in zip(waves[1:], network.weights, network.biases, strict=True):
        z = graph.op("Mul", graph.affine(z, w, b), wave)
    return graph.affine(z, network.head_weights[-1], network.head_biases[-1])


def _polynomial(graph: Graph, network: PolyINR, x: str) -> str:
    def leaky(entry: str) -> str:
        return graph.op("LeakyRelu", entry, alpha=float(network.slope))

    maps = [graph.affine(x, w, b) for w, b in zip(network.maps, network.offsets, strict=True)]
    layers = list(zip(network.weights, network.biases, strict=True))
    z = maps[0]
    for place, (w, b) in zip(maps[1:], layers, strict=False):
        z = graph.op("Mul", leaky(graph.affine(z, w, b)), leaky(place))
    return graph.affine(leaky(graph.affine(z, *layers[-2])), *layers[-1])


def _filter_bank(graph: Graph, network: FilterBank, z: str) -> str:
    x = graph.columns(z, *range(network.dims))
    out = _sine(graph, graph.affine(x, network.weights[0], network.biases[0]), network.omega, 0.0)
    layers = []
    for i in range(network.levels):
        first = network.dims + i * network.features
        level = graph.columns(z, *range(first, first + network.features))
        turned = graph.op("MatMul", level, network.frequencies[i].t().contiguous())
        deeper = graph.affine(out, network.weights[i + 1], network.biases[i + 1])
        out = graph.op("Add", _sine(graph, deeper, network.omega, 0.0), _sine(graph, turned, 2 * math.pi, 0.0))
        layers.append(out)
    merge = list(network.merge_weights), list(network.merge_biases)
    return _perceptron(graph, graph.join(*layers), *merge, "relu")


def _level_decoder(graph: Graph, network: LevelDecoder, z: str) -> str:
    """The finest level alone: [x, Σ g_l]."""
    total = ""
    for i in range(network.levels):
        first = network.dims + i * network.features
        level = graph.columns(z, *range(first, first + network.features))
        total = graph.op("Add", total, level) if total else level
    finest = network.decoders[-1]
    assert isinstance(finest, MLP)
    return _mlp(graph, finest, graph.join(graph.columns(z, *range(network.dims)), total))


_WRITERS: dict[type, Callable[[Graph, Any, str], str]] = {
    MLP: _mlp,
    ComplexWavelet: _complex,
    MFN: _mfn,
    Bacon: _bacon,
    PolyINR: _polynomial,
    FilterBank: _filter_bank,
    LevelDecoder: _level_decoder,
}
