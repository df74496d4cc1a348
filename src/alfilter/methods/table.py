"""METHODS: every system as one row of data, and `build`, which makes a field of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import torch

from alfilter.config import Density, Training, configure, override
from alfilter.encodings import Encoding
from alfilter.errors import UserError, closest, nearest
from alfilter.methods import (
    activations,
    filtered_fourier,
    filtered_grids,
    fourier,
    grids,
    multiplicative,
    spatial_trees,
)
from alfilter.methods.field import Field
from alfilter.methods.method import Method, Parts, Preset, Samples
from alfilter.methods.registry import Registry
from alfilter.methods.tuned import with_tuned
from alfilter.networks import Network

METHODS = Registry(
    with_tuned(
        {
            **filtered_fourier.ROWS,
            **filtered_grids.ROWS,
            **fourier.ROWS,
            **activations.ROWS,
            **multiplicative.ROWS,
            **grids.ROWS,
            **spatial_trees.ROWS,
        }
    )
)

_MOST_COORDINATES = 32
_MOST_VALUES = 1 << 16


def method(name: str) -> Method:
    """The row of a method; an unknown name is answered with the nearest."""
    if name not in METHODS:
        raise UserError(f"there is no method {name!r}; {nearest(name, METHODS)}")
    return METHODS[name]


def register(name: str, method: Method) -> None:
    """Give a method of your own a name, which `build`, `fit`, `save`, `load` and studies of this program then know.

    Every other process, the command line among them, knows a method that an installed package provides as an entry
    point of the group `alfilter.methods`.

    >>> from dataclasses import replace
    >>> register("narrow-siren", replace(METHODS["siren"], presets={"default": Preset({"width": 32})}))
    >>> build("narrow-siren", in_dim=1, out_dim=1, preset="default").spec["options"]["width"]
    32
    >>> METHODS.unregister("narrow-siren")
    """
    METHODS.register(name, method)


def preset(name: str, which: str) -> Preset:
    """A method's preset by name."""
    presets = method(name).presets
    if which not in presets:
        raise UserError(
            f"{name} has no preset {which!r}; {_nearest_preset(which, presets)}", arguments=["preset", "method"]
        )
    return presets[which]


def _nearest_preset(which: str, presets: Iterable[str]) -> str:
    """A hint at the nearest preset of a method; if none is close, at that of another method."""
    own = sorted(presets)
    elsewhere = closest(which, (other for row in METHODS.values() for other in row.presets))
    if closest(which, own) or elsewhere is None:
        return nearest(which, own)
    have = [name for name, row in METHODS.items() if elsewhere in row.presets]
    owners = ", ".join(have[:2] if len(have) < 3 else [*have[:2], "…"])
    return f"methods that have it: {owners}" if elsewhere == which else f"did you mean {elsewhere!r} ({owners})?"


def preset_for(name: str, which: str, kind: str) -> str:
    """The name of a method's preset for one kind of signal: `WHICH-KIND` where there is one, else `WHICH`.

    >>> preset_for("al-sine", "paper", "shape"), preset_for("al-sine", "paper", "image")
    ('paper-shape', 'paper')
    """
    preset(name, which)
    return f"{which}-{kind}" if f"{which}-{kind}" in method(name).presets else which


def training(name: str, which: str = "default", density: Density | None = None, **overrides: Any) -> Training:
    """The training of a preset, for a signal seen that densely, with some of its settings changed."""
    return configure(Training, override(preset(name, which).training_at(density), overrides), "training")


def build(
    name: str,
    *,
    in_dim: int,
    out_dim: int,
    preset: str | None = None,
    samples: Samples | None = None,
    seen: Density | None = None,
    seed: int = 0,
    **options: Any,
) -> Field:
    """A new field of the named method.

    in_dim, out_dim: coordinates and values of the signal. preset: the settings to start from; none takes the options'
    own defaults, which are the source's. samples: how many samples the signal has along each axis, if known: sizes that
    follow the signal (the α grid) use it. seen: how densely it is seen, for presets that follow that; none takes
    every sample as seen. seed: of the random start. options: of that method, checked.

    >>> build("al-sine", in_dim=2, out_dim=3, levels=4, grid=16)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    >>> build("al-sine", in_dim=2, out_dim=3, level=4)
    Traceback (most recent call last):
    alfilter.errors.UserError: al-sine has no option 'level'; did you mean 'levels'?
    """
    row = method(name)
    for label, size, most in (("in_dim", in_dim, _MOST_COORDINATES), ("out_dim", out_dim, _MOST_VALUES)):
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= most:
            raise UserError(f"{label} must be a whole number from 1 to {most}, got {size!r}")
    if samples is not None and (len(samples) != in_dim or min(samples) < 1):
        raise UserError(f"samples must name {in_dim} sizes of at least 1 for {in_dim} coordinates, got {samples}")
    if seen is None and samples is not None:
        seen = Density.of(in_dim, math.prod(samples), math.prod(samples))
    chosen = {**(_preset_options(name, preset, seen) if preset else {}), **options}
    config: Any = configure(row.options, chosen, name)
    generator = torch.Generator().manual_seed(seed)
    encoding, network = _parts(name, row.build(config, in_dim, out_dim, samples, generator))
    spec: dict[str, Any] = {
        "method": name,
        "preset": preset,
        "in_dim": in_dim,
        "out_dim": out_dim,
        "samples": samples,
        "options": asdict(config),
    }
    if provider := METHODS.provider(name):  # for a reader of the model file who does not have it
        spec["provider"] = provider
    return Field(encoding, network, spec)


def _parts(name: str, parts: Any) -> Parts:
    """What a method's build returned, if it is an encoding and a network that fit together."""
    kinds = tuple(type(part).__name__ for part in parts) if isinstance(parts, tuple) else type(parts).__name__
    match parts:
        case (Encoding() as encoding, Network() as network):
            if encoding.out_dim != network.in_dim:
                sizes = f"{encoding.out_dim} features into a network of {network.in_dim}"
                raise UserError(f"{name} builds an encoding of {sizes}; they must be equal")
            return encoding, network
    raise UserError(f"{name} must build a pair (Encoding, Network), got {kinds}")


def _preset_options(name: str, which: str, density: Density | None) -> Mapping[str, Any]:
    return preset(name, which).options_at(density)
