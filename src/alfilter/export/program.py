"""A field as a short list of steps that a browser can follow: features of sines, then layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.core import channel_scales, encoded_dim
from alfilter.encodings import Encoding, FilteredFourier, Fourier, Identity, RandomFourier
from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.networks import MLP, ComplexWavelet, Network

Floats = NDArray[np.float32]

PLAIN, SINE, COSINE = 0, 1, 2  # kinds of features


@dataclass
class Program:
    """What the page evaluates: `steps` as JSON, whose [first, count] entries point into `numbers` (float32)."""

    steps: dict[str, Any] = field(default_factory=dict)
    parts: list[Floats] = field(default_factory=list)
    size: int = 0

    def keep(self, numbers: Any) -> list[int]:
        """Store numbers and say where they are."""
        flat = np.ascontiguousarray(numbers, np.float32).reshape(-1)
        self.parts.append(flat)
        self.size += flat.size
        return [self.size - flat.size, flat.size]

    @property
    def numbers(self) -> Floats:
        return np.concatenate(self.parts)


def program_of(field: Field) -> Program:
    """The program of a field of two coordinates, or the reason why there is none."""
    if field.in_dim != 2 or field.out_dim > 4:
        got = f"{field.in_dim} and {field.out_dim}"
        raise UserError(f"the page shows 2 coordinates and up to 4 values, got {got}; export .onnx instead")
    table, layers = _TABLES.get(type(field.encoding)), _LAYERS.get(type(field.network))
    if table is None or layers is None:
        what = f"{field.spec.get('method')} has {'features' if table is None else 'a network'} of its own"
        raise UserError(f"the page evaluates Fourier features and layers, and {what}; export .onnx instead")
    made = Program()
    with torch.no_grad():
        rows = table(field.encoding)
        made.steps = {
            "features": len(rows),
            "table": made.keep(rows),
            "layers": layers(made, field.network),
            "shift": field.shift.tolist(),
            "range": field.scale.tolist(),
            "alpha": None,
            "filter": None,
        }
        if isinstance(field.encoding, FilteredFourier):
            _add_filter(made, field.encoding)
    return made


def _add_filter(made: Program, encoding: FilteredFourier) -> None:
    grid = (encoding.alpha.values * encoding.alpha.unit).squeeze(-1).cpu().numpy()  # in channel units
    made.steps["alpha"] = {"rows": grid.shape[0], "columns": grid.shape[1], "values": made.keep(grid)}
    channels = encoded_dim(encoding.in_dim, encoding.levels)
    low, high = (float(v) for v in np.quantile(grid, (0.01, 0.99)))  # a few far nodes would hide the rest
    made.steps["filter"] = {
        "range": [low, max(high, low + 0.5)],
        "bandwidth": encoding.bandwidth,
        "kappa": encoding.kappa,
        "channels": channels,
        "levels": encoding.levels,
    }


# ── features: per row two frequencies in turns per unit, the kind, the place on the filter's axis (-1: no filter) ────


def _coordinates() -> Floats:
    return np.array([[1, 0, PLAIN, -1], [0, 1, PLAIN, -1]], np.float32)


def _identity(encoding: Identity) -> Floats:
    return _coordinates()


def _dyadic(levels: int, filtered: bool) -> Floats:
    """sin and cos of 2^j π x_k, which turn 2^(j-1) times per unit, in the order of `core.dyadic_encoding`."""
    rows = []
    for channel, scale in enumerate(channel_scales(2, levels).tolist()):
        frequency, axis = 2.0 ** (scale - 1), channel // 2 % 2
        rows.append([frequency * (axis == 0), frequency * (axis == 1), SINE + channel % 2, channel if filtered else -1])
    return np.array(rows, np.float32)


def _fourier(encoding: Fourier) -> Floats:
    return _dyadic(encoding.levels, filtered=False)


def _random(encoding: RandomFourier) -> Floats:
    turns = encoding.frequencies.cpu().numpy()
    ends = [np.tile(np.array([[kind, -1]], np.float32), (len(turns), 1)) for kind in (SINE, COSINE)]
    return np.concatenate([np.concatenate((turns, end), axis=1) for end in ends])


def _filtered(encoding: FilteredFourier) -> Floats:
    rows = _dyadic(encoding.levels, filtered=True)
    return np.concatenate((_coordinates(), rows)) if encoding.coordinates else rows


_TABLES: dict[type[Encoding], Callable[[Any], Floats]] = {
    Identity: _identity,
    Fourier: _fourier,
    RandomFourier: _random,
    FilteredFourier: _filtered,
}


# ── layers: z ← σ(W z + b) ───────────────────────────────────────────────────────────────────────────────────────────


def _layer(made: Program, weight: Any, bias: Any, shape: str, omega: float = 1.0, scale: float = 1.0) -> dict[str, Any]:
    return {"outputs": weight.shape[0], "inputs": weight.shape[1], "weight": made.keep(weight), "bias": made.keep(bias),
            "shape": shape, "omega": float(omega), "scale": float(scale)}  # fmt: skip


def _mlp(made: Program, network: MLP) -> list[dict[str, Any]]:
    scales = [network.sharpness] * len(network.weights) if network.learned is None else network.learned.tolist()
    layers = [(w.cpu().numpy(), b.cpu().numpy()) for w, b in zip(network.weights, network.biases, strict=True)]
    shape = network.activation.removesuffix("-full")
    hidden = [_layer(made, *layer, shape, network.omega, scales[i]) for i, layer in enumerate(layers[:-1])]
    return [*hidden, _layer(made, *layers[-1], "linear")]


def _wavelet(made: Program, network: ComplexWavelet) -> list[dict[str, Any]]:
    """Real and imaginary parts side by side instead of one half after the other, so that a pair can be activated."""
    weights, biases = ([t.cpu().numpy() for t in part] for part in network.real_layers())
    pairs = np.arange(len(biases[0])).reshape(2, -1).T.reshape(-1)  # re0, im0, re1, im1, …
    layers = []
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        columns = weight if i == 0 else weight[:, pairs]
        last = i == len(weights) - 1
        rows = (columns, bias) if last else (columns[pairs], bias[pairs])
        layers.append(_layer(made, *rows, "linear" if last else "complex-wavelet", network.omega, network.scale))
    return layers


_LAYERS: dict[type[Network], Callable[[Program, Any], list[dict[str, Any]]]] = {MLP: _mlp, ComplexWavelet: _wavelet}
