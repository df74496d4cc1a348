"""Methods whose encoding subdivides space where the signal needs it: NGLOD's octree, ACORN's blocks."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import torch

from alfilter.config import option
from alfilter.encodings import AdaptiveBlocks, Octree
from alfilter.methods.method import Backbone, Method, Parts, Preset, Samples, relu_network
from alfilter.networks import LevelDecoder


@dataclass(frozen=True)
class OctreeOptions:
    """Takikawa et al., NGLOD, CVPR 2021: see `Octree`. `source` has its rate and its batches of 512.

    Differs from the source in the steps, too: its code counts 250 epochs of a shape's samples, and the 5,000 of
    `source` are those of the AL-Filter paper.
    """

    levels: int | None = option(
        5, "L, levels of detail, each of half the cell; none: until a cell has `cell` samples", low=1, high=12
    )
    cell: float = option(2.0, "samples along a cell of the finest level, where `levels` is none", low=0.25, high=64)
    base: int = option(4, "cells per axis of the coarsest level", low=1, high=256)
    features: int = option(32, "F, features of a node", low=1, high=256)
    capacity: int = option(
        65536, "rows: nodes of all levels that may hold features, at least those of the coarsest", low=2, high=1 << 24
    )
    rule: str = option(
        "auto",
        "what is refined: around a zero (surface), where values vary (detail); auto: by the signal",
        choices=("auto", "surface", "detail"),
    )
    width: int = option(128, "neurons per hidden layer of a level's decoder", low=1, high=8192)
    depth: int = option(1, "hidden layers of a level's decoder", low=1, high=64)


@dataclass(frozen=True)
class Acorn:
    """Martel et al., ACORN, 2021: see `AdaptiveBlocks`. `source` has its picture setting.

    Differs from the source in: the decoder starts as torch does, there Kaiming-normal; the solver; errors of blocks are
    extrapolated from their present state only; samples are the pixels' centres, there jittered anew within their pixels
    at every step.
    """

    tiles: int = option(1024, "the most blocks", low=1, high=65536)
    patch: int | None = option(
        None, "nodes per axis of a block's features; none: 8 up to three coordinates, else 4", low=2, high=64
    )
    deepest: int | None = option(
        None, "halvings of the domain at most; none: until a block has as many samples as nodes", low=0, high=16
    )
    features: int = option(16, "F, features of a node", low=1, high=256)
    every: int = option(500, "steps between two allocations of the blocks", low=1, high=1 << 30)
    width: int = option(256, "neurons per hidden layer of the encoder", low=1, high=8192)
    depth: int = option(4, "hidden layers of the encoder", low=1, high=64)
    decoder: int = option(64, "neurons of the two hidden layers of the decoder", low=1, high=8192)


def _octree(
    options: OctreeOptions, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    rule: Any = options.rule
    levels = options.levels
    if levels is None:
        halvings = ceil(log2(max(1.0, max(samples or (512,)) / (options.cell * options.base))))
        levels = 1 + min(halvings, 20 // in_dim)
    encoding = Octree(
        in_dim,
        levels=levels,
        base=options.base,
        features=options.features,
        capacity=max(options.capacity, (options.base + 1) ** in_dim),
        rule=rule,
        generator=generator,
    )
    sizes: dict[str, Any] = {"width": options.width, "depth": options.depth, "generator": generator}
    return encoding, LevelDecoder(in_dim, out_dim, levels=levels, features=options.features, **sizes)


def _acorn(options: Acorn, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator) -> Parts:
    patch = options.patch or (8 if in_dim <= 3 else 4)
    halvings = ceil(log2(max(1.0, max(samples or (512,)) / patch)))
    deepest = options.deepest if options.deepest is not None else min(halvings, 20 // in_dim)
    encoding = AdaptiveBlocks(
        in_dim,
        tiles=options.tiles,
        deepest=deepest,
        patch=patch,
        features=options.features,
        width=options.width,
        depth=options.depth,
        every=options.every,
        generator=generator,
    )
    return encoding, relu_network(Backbone(width=options.decoder, depth=2), encoding, out_dim, generator)


_NGLOD = {"lr": 1e-3, "lr_encoding": 1e-3, "batch": 512, "schedule": "constant"}
_ACORN = {"lr": 1e-3, "lr_encoding": 1e-3, "schedule": "constant"}

ROWS = {
    "octree": Method(
        "Sparse octree of features, several levels of detail (NGLOD)",
        2021,
        OctreeOptions,
        _octree,
        {"source": Preset({}, _NGLOD), "paper": Preset({}, _NGLOD)},
        adaptive="yes",
        positional="yes",
        size_by="capacity",
    ),
    "acorn": Method(
        "Adaptive blocks: an encoder of blocks, a decoder of places (ACORN)",
        2021,
        Acorn,
        _acorn,
        {
            "source": Preset({"depth": 5}, {**_ACORN, "steps": 100_300}),
            "paper": Preset({}, _ACORN),
        },
        adaptive="yes",
        positional="yes",
    ),
}
