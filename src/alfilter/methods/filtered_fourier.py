"""The paper's methods, al-sine and al-relu: the filtered Fourier encoding before sine and before ReLU layers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from alfilter.config import Density, option
from alfilter.encodings import FilteredFourier
from alfilter.methods.method import (
    SHAPE_BACKBONE,
    SHAPE_DEFAULT,
    SHAPE_PAPER,
    Backbone,
    Dyadic,
    Method,
    Parts,
    Preset,
    Samples,
    SineBackbone,
    alpha_resolution,
    relu_network,
    sine_network,
)


@dataclass(frozen=True)
class Adaptive(Dyadic):
    bandwidth: float = option(20.0, "B, width of the pass band in channels", low=1e-3, high=1e4)
    kappa: float = option(10.0, "κ, sharpness of the band's edges", low=1e-3, high=1e3)
    grid: int | tuple[int, ...] | None = option(
        None, "nodes of the α grid per axis; none: one per sample", low=1, high=4096
    )
    start: float | None = option(None, "α at the beginning, in channels; none: the middle of the axis")
    unit: str = option("channel", "unit in which α is stored and stepped", choices=("channel", "axis"))
    bounded: bool = option(True, "keep α where its gradient lives, inside [-B/2, C_N-1+B/2]")
    coordinates: bool = option(False, "feed the coordinates to the network beside γ'")
    gain: float = option(1.0, "scale of the first weights on γ' (sine networks)", low=0, high=1e3)


@dataclass(frozen=True)
class AlSine(SineBackbone, Adaptive):
    pass


@dataclass(frozen=True)
class AlRelu(Backbone, Adaptive):
    pass


def _adaptive(options: Any, in_dim: int, samples: Samples | None) -> FilteredFourier:
    """The filtered encoding; without a given grid, one node per sample, at most the paper's 512 (30 from 3-D on)."""
    finest = 512 if in_dim < 3 else 30
    grid = options.grid if options.grid is not None else tuple(min(n, finest) for n in samples or (finest,) * in_dim)
    resolution = alpha_resolution(grid, in_dim)
    channels = 2 * in_dim * options.levels
    return FilteredFourier(
        in_dim,
        levels=options.levels,
        bandwidth=options.bandwidth,
        kappa=options.kappa,
        resolution=resolution,
        start=channels / 2 if options.start is None else options.start,
        unit=options.unit,
        bounded=options.bounded,
        coordinates=options.coordinates,
        gain=options.gain,
        placement=options.placed(samples),
    )


def _al_sine(options: AlSine, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = _adaptive(options, in_dim, samples)
    return encoding, sine_network(options, encoding, out_dim, generator)


def _al_relu(options: AlRelu, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = _adaptive(options, in_dim, samples)
    return encoding, relu_network(options, encoding, out_dim, generator)


# As printed; what is not (where γ sees the samples, start, unit, ω0, batch) is a guess, listed in docs/paper.md.
# tv: the paper's λ on the summed total variation of the α grid, when samples are missing. The paper sums the squared
# error over the channels, of which a colour has three; here it is their mean
PAPER = Preset({"placement": "unit"}, sparse={"tv": 1e-3 / 3})


def _follow_density(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nothing finer than the n values per axis, seen or filled in.

    The finest dyadic scale is the Nyquist rate, n/2 cycles across the domain; ω0 grows with the root of n, to n = 256.
    """
    values = density.seen * max(density.gap, 2.0)  # scattered points have no spacing but their own, and are filled too
    levels = min(max(int(math.log2(max(values, 4))), 2), 8)
    omega = float(f"{min(max(OMEGA * math.sqrt(values / 256), 10.0), OMEGA):.3g}")
    options = {"omega": omega, "levels": levels, "bandwidth": 1.25 * density.dims * levels}
    if density.dims > 2:
        options["grid"] = 8
    if density.dims > 4:  # only points have so many coordinates; on them the rest of 5,000 steps gains nothing
        return options, {"steps": 1000}
    # a filling that many samples stand behind counts as much as they do
    return options, {"fill": 1.0} if 1 < density.gap < SPARSE_GAP else {}


SPARSE_GAP = 3.0
OMEGA = 45.0  # at 256 values per axis and above
RECONSTRUCT = Preset(
    {"start": 0.0, "unit": "axis", "coordinates": True, "gain": 1.4, "levels": 8, "bandwidth": 20.0, "grid": 16},
    {"batch": 2048, "schedule": "cosine", "decay": 0.01, "lr": 5e-4, "lr_encoding": 1.3e-3, "fill": 0.5},
    adapt=_follow_density,
)


def _follow_sound(density: Density) -> tuple[dict[str, Any], dict[str, Any]]:
    """A sound's frequencies come from the scales and not from ω0, which stays that of SIREN.

    At the start (α = 0) the lowest p = log2 N - 5.4 scales pass, the finest of them 1/40 of the Nyquist rate; four more
    wait above for α. Found on one second of music at 11 and 44 kHz with 300 steps of a small network; on seven seconds
    that network was best with p between 10 and 12, where p ends.
    """
    passing = min(max(math.log2(max(density.seen, 2)) - 5.4, 2.0), 12.0)
    scales = {"levels": min(round(passing) + 4, 20), "bandwidth": float(f"{4 * density.dims * passing:.3g}")}
    return scales, {}


SOUND = Preset(
    {"start": 0.0, "unit": "axis", "coordinates": True, "gain": 1.4, "omega": 30.0, "levels": 14, "bandwidth": 40.0},
    {"batch": 4096, "schedule": "cosine", "decay": 0.01, "lr": 6e-4, "lr_encoding": 3e-3},
    adapt=_follow_sound,
)
# Volumes and video: of ω0 20, 30, 45 and 73, 30 was best on an MRI of 50x59x48 and level with 20 on 24 frames.
SOLID = Preset(
    {"start": 0.0, "unit": "axis", "coordinates": True, "gain": 1.4, "omega": 30.0},
    {"batch": 4096, "schedule": "cosine", "decay": 0.01, "lr": 5e-4, "lr_encoding": 3e-3},
)

ROWS = {
    "al-sine": Method(
        "AL-Filter with sine layers (the paper's Ours-Sine)",
        2025,
        AlSine,
        _al_sine,
        {
            "source": PAPER,
            "paper": PAPER,
            "paper-shape": Preset({"depth": 8, "grid": 30, "placement": "unit"}, {**SHAPE_PAPER, "lr": 1e-4}),
            # rates, ω0, gain and width of all `default-shape` rows: `alfilter experiment shapes-search`
            "default-shape": Preset(
                {
                    "start": 0.0,
                    "unit": "axis",
                    "coordinates": True,
                    "levels": 5,
                    "bandwidth": 12.0,
                    **SHAPE_BACKBONE,
                    "omega": 40.0,
                    "gain": 0.18,
                },
                {**SHAPE_DEFAULT, "lr": 4.6e-4, "lr_encoding": 1.3e-3},
            ),
            "default-audio": SOUND,
            "default-volume": SOLID,
            "default-video": SOLID,
            "reconstruct": RECONSTRUCT,
            "reconstruct-audio": SOUND,
        },
        adaptive="yes",
        explicit="yes",
        positional="yes",
    ),
    "al-relu": Method(
        "AL-Filter with ReLU layers (the paper's Ours-ReLU)",
        2025,
        AlRelu,
        _al_relu,
        {"source": PAPER, "paper": PAPER},
        adaptive="yes",
        explicit="yes",
        positional="yes",
    ),
}
