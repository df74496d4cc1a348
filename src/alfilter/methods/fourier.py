"""Methods with a fixed Fourier encoding: positional encoding and Gaussian Fourier features."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from alfilter.config import option
from alfilter.encodings import Fourier, RandomFourier
from alfilter.methods.method import (
    SHAPE_DEFAULT,
    SHAPE_PAPER,
    Backbone,
    Dyadic,
    Method,
    Parts,
    Preset,
    Samples,
    glorot_start,
    relu_network,
)


@dataclass(frozen=True)
class PeMlp(Backbone, Dyadic):
    """ReLU layers on γ(x), sines and cosines of dyadic frequencies. Mildenhall et al., NeRF, ECCV 2020.

    Differs from the source in: L is 8 and not 10, three layers and not eight with γ once more at the fifth; no x beside
    γ; no sigmoid at the end; the rate, 1e-3 in steps instead of 5e-4 falling evenly to a tenth in 250,000 steps. NeRF
    fits no pictures: `source` has the AL-Filter paper's sizes, schedule and 5,000 steps.
    """


@dataclass(frozen=True)
class FourierFeatures(Backbone):
    """ReLU layers on [sin(2πBx), cos(2πBx)], B ~ N(0, σ²). Tancik et al., Fourier Features, NeurIPS 2020.

    Differs from the source in the output, which is linear here and a sigmoid there, and so in the scale of its loss;
    `source` has its sizes, its start (Glorot-normal weights, biases of 0.01), its constant rate and its 2,000 steps.
    """

    features: int = option(256, "number of random frequencies", low=1, high=65536)
    sigma: float = option(
        10.0, "standard deviation of the frequencies, in cycles across the domain", low=1e-3, high=1e4
    )
    init: str = option("torch", "how the network's weights start", choices=("torch", "glorot"))


def _pe_mlp(options: PeMlp, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = Fourier(in_dim, options.levels, options.placed(samples))
    return encoding, relu_network(options, encoding, out_dim, generator)


def _fourier_features(
    options: FourierFeatures, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    encoding = RandomFourier(in_dim, options.features, options.sigma, generator)
    network = relu_network(options, encoding, out_dim, generator)
    if options.init == "glorot":
        glorot_start(network, generator, normal=True, bias=0.01)
    return encoding, network


ROWS = {
    "pe-mlp": Method(
        "Positional encoding and a ReLU network",
        2020,
        PeMlp,
        _pe_mlp,
        {
            "source": Preset({"placement": "unit"}),
            "paper": Preset({"placement": "unit"}),
            # BACON's rate for its ReLU network: from 1e-3 to 1e-4 in equal factors
            "paper-shape": Preset(
                {"depth": 8, "placement": "unit"}, {**SHAPE_PAPER, "schedule": "step", "decay": 0.9886, "every": 1000}
            ),
            "default-shape": Preset({"width": 128, "depth": 3, "levels": 5}, {**SHAPE_DEFAULT, "neurons": 384}),
        },
    ),
    "fourier-features": Method(
        "Gaussian Fourier features and a ReLU network",
        2020,
        FourierFeatures,
        _fourier_features,
        {
            "source": Preset({"init": "glorot"}, {"lr": 1e-3, "schedule": "constant", "steps": 2000}),
            "paper": Preset(),
        },
    ),
}
