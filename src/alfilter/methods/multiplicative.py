"""Methods that multiply functions of the coordinates: MFN, BACON and Poly-INR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from alfilter.config import option
from alfilter.encodings import Identity
from alfilter.errors import UserError
from alfilter.methods.method import SHAPE_DEFAULT, SHAPE_PAPER, Backbone, Method, Parts, Preset, Samples
from alfilter.networks import MFN, Bacon, PolyINR

_UNKNOWN = 256  # samples per axis that BACON assumes of a signal whose size is not known; its source's picture size


@dataclass(frozen=True)
class Multiplied(Backbone):
    """z ← (W z + b) ⊙ g_i(x), sine or Gabor filters g_i. Fathony et al., Multiplicative Filter Networks, ICLR 2021.

    Differs from the source in nothing known. `depth` linear layers stand between depth + 1 filters.
    """

    scale: float = option(256.0, "range of the filters' frequencies at the start", low=1e-3, high=1e5)


@dataclass(frozen=True)
class BandLimited:
    """z ← (W z + b) ⊙ sin(Ω_i x + φ_i), Ω_i frozen whole numbers of cycles; an output after every filter.

    Lindell et al., BACON, CVPR 2022. Every output is fitted to the whole signal and keeps the part below its limit.
    Differs from the source in the outputs: one after each filter but the first (its code's default; its picture setting
    leaves out the third), in bands of at least one cycle, and in the targets' range ([0, 1] there).
    """

    width: int = option(256, "neurons per hidden layer", low=1, high=8192)
    shares: tuple[int, ...] | None = option(
        (1, 1, 2, 2, 2), "relative bands of the filters, like 1x1x2x2x2; together the reach", low=1, high=10**6
    )
    resolution: int | tuple[int, ...] | None = option(
        None,
        "samples per axis that Nyquist is counted in; none: those of the signal, 256 if unknown",
        low=1,
        high=65536,
    )
    reach: float = option(1.0, "share of Nyquist that the bands together reach", low=1e-3, high=8)


@dataclass(frozen=True)
class Polynomial:
    """z ← l(W_i(z ⊙ l(A_i x + c_i)) + b_i), l a leaky ReLU. Singh et al., Polynomial INR, CVPR 2023.

    Differs from the source in being fitted to one signal: there the affine maps come from a latent code of a generative
    network of width 1024 trained as a GAN, so it has no recipe for a picture; 256 wide and lr 1e-3 are ours, and the
    start is (see `PolyINR`). No encoding of any kind, as there.
    """

    width: int = option(256, "neurons per level", low=1, high=8192)
    levels: int = option(10, "levels, the degree of the polynomial", low=1, high=64)
    slope: float = option(0.2, "slope of the leaky ReLU below zero; 1 makes it a polynomial exactly", low=0, high=1)


def _mfn(options: Multiplied, in_dim: int, out_dim: int, generator: torch.Generator, gabor: bool) -> Parts:
    sizes = {"width": options.width, "depth": options.depth}
    network = MFN(in_dim, out_dim, scale=options.scale, gabor=gabor, generator=generator, **sizes)
    return Identity(in_dim), network


def _mfn_fourier(
    options: Multiplied, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    return _mfn(options, in_dim, out_dim, generator, gabor=False)


def _mfn_gabor(
    options: Multiplied, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    return _mfn(options, in_dim, out_dim, generator, gabor=True)


def _bacon(
    options: BandLimited, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    resolution = options.resolution if options.resolution is not None else samples or _UNKNOWN
    sizes = (resolution,) * in_dim if isinstance(resolution, int) else resolution
    if len(sizes) != in_dim:
        raise UserError(
            f"option 'resolution' needs {in_dim} sizes for {in_dim} coordinates, got {len(sizes)}; give one per axis"
        )
    shares = options.shares or (1, 1, 2, 2, 2)
    if len(shares) < 2:
        raise UserError(f"option 'shares' needs at least 2 bands, got {len(shares)}; for example 1x1x2x2x2")
    sizing: dict[str, Any] = {"width": options.width, "resolution": sizes, "shares": shares, "reach": options.reach}
    network = Bacon(in_dim, out_dim, generator=generator, **sizing)
    return Identity(in_dim), network


def _poly_inr(
    options: Polynomial, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    sizes = {"width": options.width, "levels": options.levels}
    return Identity(in_dim), PolyINR(in_dim, out_dim, slope=options.slope, generator=generator, **sizes)


_MFN_PRESETS = {
    "source": Preset({}, {"lr": 1e-2, "schedule": "constant", "steps": 10000}),
    "paper": Preset({}, {"lr": 1e-2}),
}

ROWS = {
    "mfn-fourier": Method(
        "Multiplicative filter network, sine filters", 2021, Multiplied, _mfn_fourier, _MFN_PRESETS, explicit="partial"
    ),
    "mfn-gabor": Method(
        "Multiplicative filter network, Gabor filters", 2021, Multiplied, _mfn_gabor, _MFN_PRESETS, explicit="partial"
    ),
    "bacon": Method(
        "BACON, band-limited coordinate network",
        2022,
        BandLimited,
        _bacon,
        {
            "source": Preset({}, {"lr": 5e-3, "schedule": "constant", "steps": 5001, "amsgrad": True}),
            "paper": Preset({}, {"lr": 5e-3}),
            # nine filters of 1/24, 1/24, 1/24, 1/16, 1/16, 1/8, 1/8, 1/4, 1/4 of the band; from 1e-2 to 1e-4 in equal
            # factors. The source counts in 384 samples for two shapes and in 512 for the other two.
            "paper-shape": Preset(
                {"shares": (2, 2, 2, 3, 3, 6, 6, 12, 12), "resolution": 512},
                {**SHAPE_PAPER, "lr": 1e-2, "schedule": "step", "decay": 0.97724, "every": 1000},
            ),
            "default-shape": Preset({"width": 128, "resolution": 64}, {**SHAPE_DEFAULT, "lr": 6e-3}),
        },
        explicit="yes",
    ),
    "poly-inr": Method(
        "Polynomial implicit representation", 2023, Polynomial, _poly_inr, {"source": Preset(), "paper": Preset()}
    ),
}
