"""A method of your own as a package: `pip install .` here, then `alfilter fit photo.png --method powers`."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from alfilter.config import option
from alfilter.encodings import Encoding
from alfilter.methods import Method, Preset
from alfilter.networks import MLP, Network


class Powers(Encoding):
    """x, x², …, x^p of every coordinate."""

    def __init__(self, in_dim: int, degree: int) -> None:
        super().__init__(in_dim, in_dim * degree)
        self.degree = degree

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x**p for p in range(1, self.degree + 1)], dim=-1)


@dataclass(frozen=True)
class Options:
    degree: int = option(4, "highest power", low=1, high=16)
    width: int = option(64, "neurons of the hidden layer", low=1, high=4096)


def build(
    options: Options, in_dim: int, out_dim: int, samples: tuple[int, ...] | None, generator: torch.Generator
) -> tuple[Encoding, Network]:
    encoding = Powers(in_dim, options.degree)
    width = options.width
    return encoding, MLP(encoding.out_dim, out_dim, width=width, depth=1, activation="relu", generator=generator)


POWERS = Method(
    title="Powers of the coordinates and a ReLU network",
    year=2026,
    options=Options,
    build=build,
    presets={"default": Preset({}, {"lr": 3e-3, "batch": 4096}), "wide": Preset({"width": 256}, {"lr": 1e-3})},
    size_by="width",
)
