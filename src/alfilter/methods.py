"""Field = encoding ∘ network, and METHODS: every system as one row of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from alfilter.config import Training, configure, option
from alfilter.encodings import Encoding, FilteredFourier, Fourier, Identity, RandomFourier
from alfilter.errors import UserError, nearest
from alfilter.networks import MLP, Network

Samples = tuple[int, ...]  # how many samples a signal has along each axis


class Field(nn.Module):
    """A signal as a function: coordinates (..., d) in [-1, 1] to values (..., c) in the signal's own units.

    The network works around zero; `shift` and `scale` bring its output to the signal's range.
    spec: what rebuilds this field (method, sizes, options), kept in its model file.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, encoding: Encoding, network: Network, spec: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.encoding = encoding
        self.network = network
        self.spec = spec or {}
        self.signal: dict[str, Any] = {}  # facts of the fitted signal, filled by a fit or a model file
        self.register_buffer("shift", torch.zeros(network.out_dim))
        self.register_buffer("scale", torch.ones(network.out_dim))

    @property
    def in_dim(self) -> int:
        return self.encoding.in_dim

    @property
    def out_dim(self) -> int:
        return self.network.out_dim

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_dim) → (..., out_dim)."""
        if x.shape[-1] != self.in_dim:
            raise UserError(f"this field takes {self.in_dim} coordinates in the last axis, got shape {tuple(x.shape)}")
        return torch.addcmul(self.shift, self.scale, self.network(self.encoding(x)))

    def set_range(self, low: Tensor, high: Tensor) -> None:
        """Let the network's -1 and 1 mean `low` and `high`, each (out_dim,)."""
        self.shift.copy_((low + high) / 2)
        self.scale.copy_((high - low) / 2)


# ── options: one small dataclass a method, only its own fields, the source's values as defaults ──────────────────────


@dataclass(frozen=True)
class Backbone:
    width: int = option(256, "neurons per hidden layer", low=1, high=8192)
    depth: int = option(3, "hidden layers", low=1, high=64)


@dataclass(frozen=True)
class SineBackbone(Backbone):
    omega: float = option(30.0, "ω0, the frequency of the sine layers", low=1e-3, high=1e4)


@dataclass(frozen=True)
class Dyadic:
    levels: int = option(8, "L, dyadic scales of the encoding", low=1, high=20)


@dataclass(frozen=True)
class Adaptive(Dyadic):
    bandwidth: float = option(20.0, "B, width of the pass band in channels", low=1e-3, high=1e4)
    kappa: float = option(10.0, "κ, sharpness of the band's edges", low=1e-3, high=1e3)
    grid: int | tuple[int, ...] | None = option(
        None, "nodes of the α grid per axis; none: one per sample", low=1, high=4096
    )
    start: float | None = option(None, "α at the beginning, in channels; none: the middle of the axis")
    unit: str = option("channel", "unit in which α is stored and stepped", choices=("channel", "axis"))
    coordinates: bool = option(False, "feed the coordinates to the network beside γ'")
    gain: float = option(1.0, "scale of the first weights on γ' (sine networks)", low=0, high=1e3)


@dataclass(frozen=True)
class AlSine(SineBackbone, Adaptive):
    pass


@dataclass(frozen=True)
class AlRelu(Backbone, Adaptive):
    pass


@dataclass(frozen=True)
class PeMlp(Backbone, Dyadic):
    pass


@dataclass(frozen=True)
class FourierFeatures(Backbone):
    features: int = option(256, "number of random frequencies", low=1, high=65536)
    sigma: float = option(
        10.0, "standard deviation of the frequencies, in cycles across the domain", low=1e-3, high=1e4
    )


# ── builders: options → encoding and network ─────────────────────────────────────────────────────────────────────────

Parts = tuple[Encoding, Network]


def _adaptive(options: Any, in_dim: int, samples: Samples | None) -> FilteredFourier:
    """The filtered encoding; without a given grid, one node per sample, at most the paper's 512 (30 from 3-D on)."""
    finest = 512 if in_dim < 3 else 30
    grid = options.grid if options.grid is not None else tuple(min(n, finest) for n in samples or (finest,) * in_dim)
    resolution = (grid,) * in_dim if isinstance(grid, int) else grid
    if len(resolution) != in_dim:
        raise UserError(
            f"option 'grid' needs {in_dim} sizes for {in_dim} coordinates, got {len(resolution)}; give one per axis"
        )
    channels = 2 * in_dim * options.levels
    return FilteredFourier(
        in_dim,
        levels=options.levels,
        bandwidth=options.bandwidth,
        kappa=options.kappa,
        resolution=resolution,
        start=channels / 2 if options.start is None else options.start,
        unit=options.unit,
        coordinates=options.coordinates,
        gain=options.gain,
    )


def _sine_network(options: Any, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    bound = encoding.first_bound()
    sizes = {"width": options.width, "depth": options.depth, "omega": options.omega}
    return MLP(encoding.out_dim, out_dim, activation="sine", first_bound=bound, generator=generator, **sizes)


def _relu_network(options: Any, encoding: Encoding, out_dim: int, generator: torch.Generator) -> Network:
    sizes = {"width": options.width, "depth": options.depth}
    return MLP(encoding.out_dim, out_dim, activation="relu", generator=generator, **sizes)


def _al_sine(options: AlSine, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = _adaptive(options, in_dim, samples)
    return encoding, _sine_network(options, encoding, out_dim, generator)


def _al_relu(options: AlRelu, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = _adaptive(options, in_dim, samples)
    return encoding, _relu_network(options, encoding, out_dim, generator)


def _pe_mlp(options: PeMlp, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    encoding = Fourier(in_dim, options.levels)
    return encoding, _relu_network(options, encoding, out_dim, generator)


def _fourier_features(
    options: FourierFeatures, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    encoding = RandomFourier(in_dim, options.features, options.sigma, generator)
    return encoding, _relu_network(options, encoding, out_dim, generator)


def _siren(
    options: SineBackbone, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    encoding = Identity(in_dim)
    return encoding, _sine_network(options, encoding, out_dim, generator)


# ── the rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Preset:
    """Settings under one name: what differs from the options' and the training's own defaults."""

    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """One system: its options, how it is built, its presets, and the facts of the paper's Table 1.

    adaptive, explicit, positional: spatially adaptive; explicit local frequency control; position-dependent parameters.
    """

    title: str
    year: int
    options: type
    build: Callable[..., Parts]
    presets: Mapping[str, Preset]
    adaptive: str = "no"
    explicit: str = "no"
    positional: str = "no"


METHODS: dict[str, Method] = {
    "al-sine": Method(
        "AL-Filter with sine layers (the paper's Ours-Sine)",
        2025,
        AlSine,
        _al_sine,
        {
            "paper": Preset(),
            "default": Preset(
                {"start": 0.0, "unit": "axis", "coordinates": True, "gain": 3.0, "omega": 60.0},
                {"batch": 8192, "schedule": "cosine", "decay": 0.01, "lr": 4e-4, "lr_encoding": 3e-4},
            ),
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
        {
            "paper": Preset(),
            "default": Preset({"start": 0.0, "unit": "axis"}, {"batch": 8192, "schedule": "cosine", "decay": 0.01}),
        },
        adaptive="yes",
        explicit="yes",
        positional="yes",
    ),
    "pe-mlp": Method(
        "Positional encoding and a ReLU network",
        2020,
        PeMlp,
        _pe_mlp,
        {"paper": Preset(), "default": Preset({}, {"batch": 8192, "schedule": "cosine", "decay": 0.01})},
    ),
    "fourier-features": Method(
        "Gaussian Fourier features and a ReLU network",
        2020,
        FourierFeatures,
        _fourier_features,
        {"paper": Preset(), "default": Preset({}, {"batch": 8192, "schedule": "cosine", "decay": 0.01})},
    ),
    "siren": Method(
        "Sinusoidal representation network",
        2020,
        SineBackbone,
        _siren,
        {
            "paper": Preset({}, {"lr": 1e-4}),
            "default": Preset({"omega": 60.0}, {"batch": 8192, "schedule": "cosine", "decay": 0.01, "lr": 5e-4}),
        },
    ),
}


def method(name: str) -> Method:
    """The row of a method; an unknown name is answered with the nearest."""
    if name not in METHODS:
        raise UserError(f"there is no method {name!r}; {nearest(name, METHODS)}")
    return METHODS[name]


def preset(name: str, which: str) -> Preset:
    """A method's preset by name."""
    presets = method(name).presets
    if which not in presets:
        raise UserError(f"{name} has no preset {which!r}; {nearest(which, presets)}")
    return presets[which]


def training(name: str, which: str = "default", **overrides: Any) -> Training:
    """The training of a preset with some of its settings changed."""
    return configure(Training, {**preset(name, which).training, **overrides}, "training")


def build(
    name: str,
    *,
    in_dim: int,
    out_dim: int,
    preset: str | None = None,
    samples: Samples | None = None,
    seed: int = 0,
    **options: Any,
) -> Field:
    """A new field of the named method.

    in_dim, out_dim: coordinates and values of the signal. preset: the settings to start from; none takes the options'
    own defaults, which are the source's. samples: how many samples the signal has along each axis, if known: sizes that
    follow the signal (the α grid) use it. seed: of the random start. options: of that method, checked.

    >>> build("al-sine", in_dim=2, out_dim=3, levels=4, grid=16)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    >>> build("al-sine", in_dim=2, out_dim=3, level=4)
    Traceback (most recent call last):
    alfilter.errors.UserError: al-sine has no option 'level'; did you mean 'levels'?
    """
    row = method(name)
    for label, size in (("in_dim", in_dim), ("out_dim", out_dim)):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise UserError(f"{label} must be a whole number of at least 1, got {size!r}")
    if samples is not None and (len(samples) != in_dim or min(samples) < 1):
        raise UserError(f"samples must name {in_dim} sizes of at least 1 for {in_dim} coordinates, got {samples}")
    chosen = {**(_preset_options(name, preset) if preset else {}), **options}
    config: Any = configure(row.options, chosen, name)
    generator = torch.Generator().manual_seed(seed)
    encoding, network = row.build(config, in_dim, out_dim, samples, generator)
    spec = {
        "method": name,
        "preset": preset,
        "in_dim": in_dim,
        "out_dim": out_dim,
        "samples": samples,
        "options": asdict(config),
    }
    return Field(encoding, network, spec)


def _preset_options(name: str, which: str) -> Mapping[str, Any]:
    return preset(name, which).options


def parameter_count(module: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
