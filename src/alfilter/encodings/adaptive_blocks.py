"""ACORN's encoding: a network that makes a grid of features for every block, and blocks that follow the error."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from alfilter.core import dyadic_encoding
from alfilter.core.hash_grid import Layout
from alfilter.core.octree import cell_of
from alfilter.core.tiling import allocate, cell_map, expected_costs, uniform_tiling
from alfilter.encodings.base import Encoding, Situation
from alfilter.errors import UserError
from alfilter.ops import perceptron
from alfilter.ops.grid_lookup import corners
from alfilter.ops.weighted_rows import weighted_rows

_MOST_CELLS = 1 << 22  # of the deepest level


class AdaptiveBlocks(Encoding):
    """I(ξ; E(γ(centre, level))): the block over x is encoded into a grid of features, read d-linearly at x within it.

    Source: Martel et al. 2021 (ACORN). E is a ReLU network of `depth` layers of `width` on the positional encoding of
    a block's centre and size; it puts out patch^d nodes of F features, ξ is the place of x in its block. Every `every`
    steps the blocks are re-allocated by an integer program (`core.tiling.allocate`): each stays, splits or merges,
    where the error asks for it, with at most `tiles` blocks.
    Differs from the source in: any d; the solver (HiGHS, free); a block's expected errors are always extrapolated from
    its present one, never remembered from an earlier visit; blocks rest in the last fifth of a run, so that what was
    cut again can still be learned; γ has the factor π, six octaves.

    in_dim: d. tiles: the most blocks. deepest: finest level. patch: nodes per axis. features: F. every: steps.

    >>> AdaptiveBlocks(2, tiles=16, deepest=3, patch=4, features=5, width=8, depth=2)(torch.zeros(7, 2)).shape
    torch.Size([7, 5])
    """

    blocks: Tensor
    count: Tensor
    cover: Tensor

    def __init__(
        self,
        in_dim: int,
        *,
        tiles: int,
        deepest: int,
        patch: int,
        features: int,
        width: int,
        depth: int,
        every: int = 500,
        octaves: int = 6,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, features)
        self.deepest, self.patch, self.features, self.every, self.octaves = deepest, patch, features, every, octaves
        if 2 ** (deepest * in_dim) > _MOST_CELLS:
            raise UserError(f"{deepest} halvings in {in_dim}-D are too many cells; ask for a smaller depth of blocks")
        inputs = (in_dim + 1) * (1 + 2 * octaves)
        sizes = list(pairwise([inputs, *[width] * depth, features * patch**in_dim]))
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for size, outputs in sizes:
            draw = torch.randn(outputs, size, generator=generator) * math.sqrt(2 / size)
            self.weights.append(nn.Parameter(draw))
            self.biases.append(nn.Parameter((torch.rand(outputs, generator=generator) * 2 - 1) / math.sqrt(size)))
        self.grid = Layout.of([(patch - 1,) * in_dim])
        self.register_buffer("blocks", torch.zeros(tiles, 1 + in_dim, dtype=torch.int32))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("cover", torch.zeros(2 ** (deepest * in_dim), dtype=torch.int32))
        start = max(level for level in range(deepest + 1) if 2 ** (level * in_dim) <= tiles)
        self._lay(uniform_tiling(start, in_dim))

    def forward(self, x: Tensor) -> Tensor:
        index, local = self.locate(x)
        node, weight = corners(local, self.grid)  # (..., 1, 2^d): places in a block's own grid
        row = node.squeeze(-2) + (index * self.patch**self.in_dim).unsqueeze(-1).to(node.dtype)
        return weighted_rows(self.block_features(), row, weight.squeeze(-2))

    def locate(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The block over every point, and the place in it as coordinates in [-1, 1]: (...), (..., d)."""
        index = self.cover.index_select(0, cell_of(x.detach(), 2**self.deepest).reshape(-1)).view(x.shape[:-1])
        block = self.blocks.index_select(0, index.reshape(-1)).view(*x.shape[:-1], 1 + self.in_dim)
        cells = torch.exp2(block[..., :1].to(x.dtype))
        return index, (x.clamp(-1, 1) + 1) * cells - 2 * block[..., 1:] - 1

    def block_features(self) -> Tensor:
        """E of every block: (tiles · patch^d, F), a block's nodes in the order of `core.interpolate`."""
        dtype = self.weights[0].dtype
        cells = torch.exp2(self.blocks[:, :1].to(dtype))
        centre = (2 * self.blocks[:, 1:] + 1) / cells - 1
        place = torch.cat((centre, self.blocks[:, :1] * (2 / max(1, self.deepest)) - 1), dim=-1)  # (tiles, d+1)
        encoded = torch.cat((place, dyadic_encoding(place, self.octaves)), dim=-1)
        features = perceptron(encoded, list(self.weights), list(self.biases), "relu")
        return features.view(-1, self.features)

    def tiling(self) -> Tensor:
        """The blocks in use: (n, 1+d), level and cell of each."""
        return self.blocks[: int(self.count)]

    def adapt(self, situation: Situation) -> None:
        """Every `every` steps, except in the last fifth of a run, move blocks to where the error is."""
        if situation.step == 0 or situation.step % self.every or situation.progress > 0.8:
            return
        tiles = self.tiling().cpu().numpy().astype(np.int64)
        total = torch.zeros(2, len(tiles), dtype=torch.float64)
        for x, error in situation.errors():
            index = self.locate(x)[0].long().cpu()
            total[0].index_add_(0, index, error.double().cpu())
            total[1].index_add_(0, index, torch.ones_like(index, dtype=torch.float64))
        errors = (total[0] / total[1].clamp(min=1)).numpy()
        self._lay(allocate(tiles, expected_costs(tiles, errors), len(self.blocks), self.deepest))

    def validate(self) -> None:
        """Refuse blocks that are not a tiling, and a map from cells to blocks that is not theirs."""
        count, blocks = int(self.count), self.blocks.cpu().numpy().astype(np.int64)
        if not 1 <= count <= len(blocks):
            raise UserError(f"the number of blocks is between 1 and {len(blocks)}, got {count}")
        levels, cells = blocks[:, :1], blocks[:, 1:]
        if levels.min() < 0 or levels.max() > self.deepest or cells.min() < 0 or (cells >= 1 << levels).any():
            raise UserError("a block lies outside the domain")
        if not np.array_equal(cell_map(blocks[:count], self.deepest).reshape(-1), self.cover.cpu().numpy()):
            raise UserError("the map from cells to blocks is not that of the blocks")
        if int(self.cover.min()) < 0:
            raise UserError("the blocks leave a part of the domain uncovered")

    def _lay(self, tiles: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
        """Use these blocks from now on; spare places repeat the first."""
        with torch.no_grad():
            self.blocks.copy_(torch.from_numpy(tiles[:1]).expand_as(self.blocks))
            self.blocks[: len(tiles)].copy_(torch.from_numpy(tiles))
            self.count.fill_(len(tiles))
            self.cover.copy_(torch.from_numpy(cell_map(tiles, self.deepest).reshape(-1)))
