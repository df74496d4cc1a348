"""Decoders for levels of detail: one small network per level, on the sum of the features up to it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.core.level_decoders import level_inputs
from alfilter.networks.base import Network
from alfilter.networks.mlp import MLP
from alfilter.ops.compiled_step import Perceptrons
from alfilter.ops.level_decoders import level_values


class LevelDecoder(Network):
    """value_l = MLP_l([x, g_0 + … + g_l]): every level of detail has its own decoder; the last is the field's value.

    Source: Takikawa et al. 2021 (NGLOD): one hidden ReLU layer of 128, a decoder per level, all trained together.

    dims: coordinates d. levels: L. features: F per level. Inputs: [x, g_0, …, g_{L-1}], d + L F numbers.

    >>> decoder = LevelDecoder(2, 3, levels=4, features=8, width=16, depth=1)
    >>> len(decoder.outputs(torch.zeros(5, 34)))
    4
    """

    def __init__(
        self,
        dims: int,
        out_dim: int,
        *,
        levels: int,
        features: int,
        width: int,
        depth: int,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(dims + levels * features, out_dim)
        self.dims, self.levels, self.features = dims, levels, features
        self.decoders = nn.ModuleList(
            MLP(dims + features, out_dim, width=width, depth=depth, activation="relu", generator=generator)
            for _ in range(levels)
        )

    def forward(self, features: Tensor) -> Tensor:
        """The value at the finest level alone."""
        values: Tensor = self.decoders[-1](level_inputs(features, self.dims, self.levels)[-1])
        return values

    def scales(self, features: Tensor) -> Tensor:
        return level_values(features, self.dims, [decoder.layers() for decoder in self._members()])

    def perceptrons(self) -> Perceptrons:
        return Perceptrons([decoder.layers() for decoder in self._members()], by_level=True)

    def _members(self) -> list[MLP]:
        return [decoder for decoder in self.decoders if isinstance(decoder, MLP)]
