"""Every network as layers z ← σ(W z + b) ⊙ g(x), with or without a gate g of the coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

from alfilter.export.steps import AXES, Program
from alfilter.networks import MFN, MLP, Bacon, ComplexWavelet, LevelDecoder, Network, PolyINR

_TURN = 2 * math.pi
Layer = dict[str, Any]


def layers(program: Program, network: Network) -> list[Layer] | None:
    """The layers of a network, or None where the page has no word for it."""
    writer = _WRITERS.get(type(network))
    return None if writer is None else writer(program, network)


def _layer(program: Program, weight: Any, bias: Any, shape: str, omega: float = 1.0, scale: float = 1.0) -> Layer:
    return {
        "outputs": weight.shape[0],
        "inputs": weight.shape[1],
        "weight": program.store(weight),
        "bias": program.store(bias),
        "shape": shape,
        "omega": float(omega),
        "scale": float(scale),
    }


def _mlp(program: Program, network: MLP) -> list[Layer]:
    scales = [network.sharpness] * len(network.weights) if network.learned is None else network.learned.tolist()
    layers = [(w.cpu().numpy(), b.cpu().numpy()) for w, b in zip(network.weights, network.biases, strict=True)]
    shape = network.activation.removesuffix("-full")
    hidden = [_layer(program, *layer, shape, network.omega, scales[i]) for i, layer in enumerate(layers[:-1])]
    return [*hidden, _layer(program, *layers[-1], "linear")]


def _wavelet(program: Program, network: ComplexWavelet) -> list[Layer]:
    """Real and imaginary parts side by side instead of one half after the other, so that a pair can be activated."""
    weights, biases = ([t.cpu().numpy() for t in part] for part in network.real_layers())
    pairs = np.arange(len(biases[0])).reshape(2, -1).T.reshape(-1)  # re0, im0, re1, im1, …
    layers = []
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        columns = weight if i == 0 else weight[:, pairs]
        last = i == len(weights) - 1
        rows = (columns, bias) if last else (columns[pairs], bias[pairs])
        layers.append(_layer(program, *rows, "linear" if last else "complex-wavelet", network.omega, network.scale))
    return layers


def _decoder(program: Program, network: LevelDecoder) -> list[Layer]:
    """The finest level's decoder; it sums the levels' features, so their columns are the same weights again."""
    decoder = network.decoders[-1]
    assert isinstance(decoder, MLP)
    layers = _mlp(program, decoder)
    weight = _numbers(decoder.weights[0])
    x, grid = weight[:, : network.dims], weight[:, network.dims :]
    whole = np.concatenate((x, np.tile(grid, (1, network.levels))), 1)
    return [{**layers[0], "inputs": whole.shape[1], "weight": program.store(whole)}, *layers[1:]]


# ── gates: per output Ω (4), φ, γ, two left over, μ (4); those of sines in turns ──────────────────────────────────────


def _gated(
    program: Program, layer: Layer, kind: str, omega: Any, phase: Any, centre: Any = None, gamma: Any = 0
) -> Layer:
    rows, dims = np.zeros((layer["outputs"], 3 * AXES), np.float32), omega.shape[1]
    rows[:, :dims], rows[:, AXES], rows[:, AXES + 1] = omega, phase, gamma
    if centre is not None:
        rows[:, 2 * AXES : 2 * AXES + dims] = centre
    return {**layer, "gate": {"kind": kind, "rows": program.store(rows)}}


def _products(program: Program, linears: list[tuple[Any, Any]], gates: list[tuple[Any, ...]]) -> list[Layer]:
    """z ← g_0(x), z ← (W z + b) ⊙ g_i(x), then a linear output. gates: kind, Ω, φ and what else each has."""
    width = len(gates[0][2])
    dims = gates[0][1].shape[1]
    start = (np.zeros((width, dims), np.float32), np.ones(width, np.float32))  # (0 x + 1) ⊙ g_0
    affine = [start, *linears[:-1]]
    products = [
        _gated(program, _layer(program, *pair, "plain"), *gate) for pair, gate in zip(affine, gates, strict=True)
    ]
    return [*products, _layer(program, *linears[-1], "linear")]


def _mfn(program: Program, network: MFN) -> list[Layer]:
    gates: list[tuple[Any, ...]] = []
    for i, (omega, phase) in enumerate(zip(network.omegas, network.phases, strict=True)):
        turns = _numbers(omega) / _TURN, _numbers(phase) / _TURN
        if network.gabor:
            gates.append(("gabor", *turns, _numbers(network.centres[i]), _numbers(network.gammas[i])))
        else:
            gates.append(("sine", *turns))
    pairs = zip(network.weights, network.biases, strict=True)
    return _products(program, [(_numbers(w), _numbers(b)) for w, b in pairs], gates)


def _bacon(program: Program, network: Bacon) -> list[Layer]:
    """The finest output alone."""
    stretch = _numbers(network.stretch)
    gates = [
        ("sine", _numbers(network.get_buffer(f"cycles{i}")) * stretch, _numbers(phase) / _TURN)
        for i, phase in enumerate(network.phases)
    ]
    pairs = [*zip(network.weights, network.biases, strict=True), (network.head_weights[-1], network.head_biases[-1])]
    return _products(program, [(_numbers(w), _numbers(b)) for w, b in pairs], gates)


def _poly(program: Program, network: PolyINR) -> list[Layer]:
    """l(W z + b) ⊙ l(A x + c): the slope of both is the layer's scale."""
    affine = [(_numbers(w), _numbers(b)) for w, b in zip(network.weights, network.biases, strict=True)]
    maps = [(_numbers(a), _numbers(c)) for a, c in zip(network.maps, network.offsets, strict=True)]
    leaky = [_layer(program, *pair, "leaky", scale=network.slope) for pair in affine[:-1]]
    gated = [_gated(program, layer, "leaky", *pair) for layer, pair in zip(leaky, maps[1:], strict=False)]
    return [_layer(program, *maps[0], "plain"), *gated, leaky[-1], _layer(program, *affine[-1], "linear")]


def _numbers(t: Tensor) -> Any:
    return t.cpu().numpy()


_WRITERS: dict[type[Network], Callable[[Program, Any], list[Layer]]] = {
    MLP: _mlp,
    ComplexWavelet: _wavelet,
    LevelDecoder: _decoder,
    MFN: _mfn,
    Bacon: _bacon,
    PolyINR: _poly,
}
