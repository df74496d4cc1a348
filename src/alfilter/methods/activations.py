"""Methods that are an activation on the bare coordinates: SIREN, Gauss, WIRE, HOSC, sinc and FINER.

Targets are scaled to [-1, 1] for every method here; WIRE's own code uses [0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from alfilter.config import Density, option
from alfilter.encodings import Identity
from alfilter.methods.method import (
    SHAPE_BACKBONE,
    SHAPE_DEFAULT,
    SHAPE_PAPER,
    Backbone,
    Method,
    Parts,
    Preset,
    Samples,
    SineBackbone,
    follow,
    sine_network,
)
from alfilter.networks import MLP, ComplexWavelet


@dataclass(frozen=True)
class Gauss(Backbone):
    """σ(z) = exp(-z²/2σ²), torch's start. Ramasinghe & Lucey, Beyond Periodicity, 2022.

    WIRE's and FINER's baselines write exp(-(s z)²): s = 1/(σ√2), so their s = 30 is σ = 0.0236.
    `source` is its released NeRF setting: 8 layers of 256, σ = 0.09, the rate 5e-5 falling to a tenth in 250,000 steps.
    Differs from the source in that the coordinates do not enter again after the fifth layer.
    """

    sigma: float = option(0.09, "σ, the width of the bump exp(-z²/2σ²)", low=1e-4, high=1e3)


@dataclass(frozen=True)
class Wire(Backbone):
    """σ(z) = exp(jωz - |sz|²) with complex weights, or its real form cos(ωz) exp(-(sz)²). Saragadam et al. 2023.

    Differs from the source in the targets' range and in leaving out the imaginary part of the last bias, which nothing
    depends on; its real form has two linear maps per layer, one inside the cosine and one inside the bump, and this one
    for both. `source` counts 2,000 epochs of 65,536 samples, and its rate falls with the epochs.

    Large ω/s overflows: |σ| reaches exp(ω²/4s²), so keep ω below about twice s.
    """

    omega: float = option(20.0, "ω, the wavelet's frequency", low=1e-3, high=1e4)
    scale: float = option(30.0, "s, one over the wavelet's width: exp(-|sz|²)", low=1e-3, high=1e4)
    form: str = option(
        "complex", "complex weights, width/√2 neurons per layer; or the real wavelet", choices=("complex", "real")
    )


@dataclass(frozen=True)
class Hosc(SineBackbone):
    """σ(z) = tanh(β sin(ωz)), SIREN's start. Serrano et al. 2024, who also learn β (AdaHOSC); with ω, Wlodarczyk et al.
    2026.

    Differs from the source in what it does not say: no code came with the first paper, and neither one β nor a start
    for all signals is fixed; β = 2 and SIREN's start and rate are ours, in `source` too, and its 5,000 steps are those
    of the AL-Filter paper.
    """

    beta: float = option(2.0, "β, from a sine (0) to a square wave (∞)", low=1e-3, high=1e3)
    learn_beta: bool = option(False, "learn β, one for every layer")


@dataclass(frozen=True)
class Sinc(Backbone):
    """σ(z) = sin(ωz)/(ωz), torch's start. Saratchandran et al., A Sampling Theory Perspective, 2024.

    Differs from the source in what it does not say: no code was released. Ports write sin(πωz)/(πωz) with ω = 30, which
    is ω = 30π here and what `source` takes; its rate and schedule are ours, its 5,000 steps the AL-Filter paper's.
    """

    omega: float = option(30.0, "ω, the band of the sinc", low=1e-3, high=1e4)


@dataclass(frozen=True)
class Finer(SineBackbone):
    """σ(z) = sin(ω(|z|+1)z), SIREN's start. Liu et al., CVPR 2024.

    The further a neuron's z is from zero the faster it oscillates, so the range of the first biases chooses the
    frequencies. Differs from the source in nothing: its code holds |z|+1 fixed in the gradient, as the default does.
    """

    first_bias: float | None = option(
        None, "k, the first biases start at U(±k); none: at U(±1/√d), as the source's images", low=0, high=1e3
    )
    detach: bool = option(True, "hold the scale |z|+1 fixed in the gradient, as the source's code does")


def _siren(
    options: SineBackbone, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    encoding = Identity(in_dim)
    return encoding, sine_network(options, encoding, out_dim, generator)


def _mlp(options: Any, in_dim: int, out_dim: int, generator: torch.Generator, activation: str, **numbers: Any) -> Parts:
    encoding = Identity(in_dim)
    sizes = {"width": options.width, "depth": options.depth}
    return encoding, MLP(in_dim, out_dim, activation=activation, generator=generator, **sizes, **numbers)


def _gauss(options: Gauss, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    return _mlp(options, in_dim, out_dim, generator, "gauss", sharpness=1 / (options.sigma * math.sqrt(2)))


def _wire(options: Wire, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    if options.form == "real":
        numbers = {"omega": options.omega, "sharpness": options.scale}
        return _mlp(options, in_dim, out_dim, generator, "wavelet", **numbers)
    width = max(1, int(options.width / math.sqrt(2)))
    numbers = {"omega": options.omega, "scale": options.scale}
    network = ComplexWavelet(in_dim, out_dim, width=width, depth=options.depth, generator=generator, **numbers)
    return Identity(in_dim), network


def _hosc(options: Hosc, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    numbers = {"omega": options.omega, "sharpness": options.beta, "learn_sharpness": options.learn_beta}
    return _mlp(options, in_dim, out_dim, generator, "hosc", **numbers)


def _sinc(options: Sinc, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    return _mlp(options, in_dim, out_dim, generator, "sinc", omega=options.omega)


def _finer(options: Finer, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    numbers = {"omega": options.omega, "first_bias": options.first_bias}
    return _mlp(options, in_dim, out_dim, generator, "finer" if options.detach else "finer-full", **numbers)


def _falling(rate: float, steps: int) -> dict[str, Any]:
    """A rate that falls evenly in its logarithm to a tenth over the run."""
    return {"lr": rate, "steps": steps, "schedule": "step", "every": 1, "decay": 0.1 ** (1 / steps)}


_WIRE_BATCH = 65536


def _epochs(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """WIRE's 2,000 epochs in steps: a signal of more samples than a batch takes several per epoch, at smaller rates."""
    samples = density.seen**density.dims
    steps = math.ceil(round(samples) / _WIRE_BATCH)
    rate = 5e-3 * min(1.0, _WIRE_BATCH / samples)
    return {}, {"lr": rate, "steps": 2000 * steps, "every": steps, "decay": 0.1 ** (1 / 2000)}


ROWS = {
    "siren": Method(
        "Sinusoidal representation network",
        2020,
        SineBackbone,
        _siren,
        {
            # four sine layers: its code counts the first one apart
            "source": Preset({"depth": 4}, {"lr": 1e-4, "schedule": "constant", "steps": 10_000}),
            "paper": Preset({}, {"lr": 1e-4}),
            "paper-shape": Preset({"depth": 8}, {**SHAPE_PAPER, "lr": 1e-4}),
            "default-shape": Preset({**SHAPE_BACKBONE, "omega": 23.0}, {**SHAPE_DEFAULT, "lr": 4.8e-4}),
            # the better of two trials on a second of music; the source raises ω0 of the first layer alone, to 3000
            "default-audio": Preset(
                {"omega": 300.0},
                {"batch": 4096, "schedule": "cosine", "decay": 0.01, "lr": 3e-4},
                adapt=follow(44_100, {"omega": 300.0}),
            ),
        },
    ),
    "gauss": Method(
        "Gaussian activation",
        2022,
        Gauss,
        _gauss,
        {
            "source": Preset({"depth": 8}, _falling(5e-5, 250_000)),
            "paper": Preset({}, {"lr": 5e-4}),
        },
    ),
    "wire": Method(
        "WIRE, complex Gabor wavelets",
        2023,
        Wire,
        _wire,
        {
            "source": Preset({}, {**_falling(5e-3, 2000), "batch": _WIRE_BATCH}, adapt=_epochs),
            "paper": Preset({}, {"lr": 5e-3}),
        },
    ),
    "hosc": Method(
        "HOSC, tanh(β sin ωx)",
        2024,
        Hosc,
        _hosc,
        {"source": Preset({}, {"lr": 1e-4, "schedule": "constant"}), "paper": Preset({}, {"lr": 1e-4})},
    ),
    "sinc": Method(
        "Sinc activation",
        2024,
        Sinc,
        _sinc,
        {
            "source": Preset({"omega": 30 * math.pi}, {"lr": 1e-3, "schedule": "constant"}),
            "paper": Preset({}, {"lr": 1e-3}),
        },
    ),
    "finer": Method(
        "FINER, sin(ω(|z|+1)z)",
        2024,
        Finer,
        _finer,
        {"source": Preset({"depth": 4}, _falling(5e-4, 5000)), "paper": Preset({}, {"lr": 5e-4})},
        adaptive="partial",
        positional="partial",
    ),
}
