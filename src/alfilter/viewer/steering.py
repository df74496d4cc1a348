"""Steering: α lowered by hand inside an area, or brought back, as a pure function over the α grid.

Lowering α takes detail away. Raising it brings the detail back and ends at what was learned: above, the network would
meet features that it was never trained with there.

The brush acts on an offset D ≤ 0 that is added to α. D has nodes at most one sample apart: those of the α grid refined
by a whole factor, through which d-linear interpolation goes unchanged, so that the two can be saved as one grid. Nodes
closer to the edge of the brush than one cell's diagonal stay 0; there α + 0 is α to the last bit, and so is the field.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from alfilter.analysis import filter_of
from alfilter.encodings import AlphaGrid
from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.ops import interpolate
from alfilter.viewer.tiles import Shape

MAX_NODES = 4096  # nodes of a grid along one axis
_ROWS = 128  # of a grid that are refined together
MIN_RADIUS = 3.0  # radius of a brush, in samples
MAX_DABS = 256  # dabs of one call

Box = tuple[float, float, float, float]  # top, left, bottom, right, in samples


@dataclass(frozen=True)
class Brush:
    """How the brush works: it adds `amount` to the offset in its middle, below 0 to lower α, above to bring it back.

    radius: in samples of the picture. amount: in the unit the α grid is stored in.
    """

    radius: float
    amount: float

    def __post_init__(self) -> None:
        if not MIN_RADIUS <= self.radius <= 1e5:
            raise UserError(f"a brush is at least {MIN_RADIUS:g} samples wide to each side, got {self.radius:g}")
        if not -1e3 <= self.amount <= 1e3:
            raise UserError(f"a brush shifts α by at most 1000, got {self.amount:g}")


def refined_shape(grid: Tensor, shape: Shape) -> tuple[int, ...]:
    """How many nodes a grid (R_1, R_2, 1) has when they are at most one sample of a picture of `shape` apart.

    >>> refined_shape(torch.zeros(1, 2, 1), (1, 5))
    (1, 5)
    """
    sizes = []
    for nodes, samples in zip(grid.shape[:-1], shape, strict=True):
        factor = math.ceil((samples - 1) / (nodes - 1)) if nodes > 1 else 1
        if nodes == 1 and samples > 1:  # constant along this axis: any number of nodes says the same
            sizes.append(min(samples, MAX_NODES))
        else:
            sizes.append((nodes - 1) * max(1, min(factor, (MAX_NODES - 1) // max(1, nodes - 1))) + 1)
    return tuple(sizes)


def refine(grid: Tensor, shape: Shape) -> Tensor:
    """The same d-linear function on the nodes of `refined_shape`. grid: (R_1, R_2, 1).

    >>> refine(torch.tensor([[[0.0], [4.0]]]), (1, 5)).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    sizes = refined_shape(grid, shape)
    if sizes == tuple(grid.shape[:-1]):
        return grid
    axes = [torch.linspace(-1, 1, size, dtype=torch.float64) if size > 1 else torch.zeros(1).double() for size in sizes]
    refined, wide = torch.empty(*sizes, 1, dtype=grid.dtype), grid.double()
    for start in range(0, sizes[0], _ROWS):  # float64 only some rows at a time
        places = torch.stack(torch.meshgrid(axes[0][start : start + _ROWS], axes[1], indexing="ij"), dim=-1)
        refined[start : start + _ROWS] = interpolate(wide, places)
    return refined


def paint(offset: Tensor, dabs: Tensor, brush: Brush, shape: Shape) -> tuple[Tensor, Box]:
    """The offset after some dabs of a brush, and the box outside which nothing changed.

    A dab at distance δ adds amount (1-(δ/ρ)²)² for δ < ρ = radius less one cell's diagonal, up to 0 at most.
    offset: (R_1, R_2, 1), at most 0. dabs: (n, 2) rows and columns in samples.
    """
    spacing = [
        (n - 1) / max(1, nodes - 1) for n, nodes in zip(shape, offset.shape[:-1], strict=True)
    ]  # samples per cell
    reach = brush.radius - math.hypot(*spacing)
    if reach <= 0:
        raise UserError(f"this α grid is steered with a brush of more than {math.hypot(*spacing):.3g} samples")
    out = offset.clone()
    for row, column in dabs.tolist():
        low = [max(0, math.ceil((c - reach) / s)) if s else 0 for c, s in zip((row, column), spacing, strict=True)]
        high = [
            min(nodes, math.floor((c + reach) / s) + 1) if s else nodes
            for c, s, nodes in zip((row, column), spacing, offset.shape[:-1], strict=True)
        ]
        part = (slice(low[0], max(low[0], high[0])), slice(low[1], max(low[1], high[1])))
        away = [
            (torch.arange(cut.start, cut.stop, dtype=torch.float64) * s - c).square()
            for cut, s, c in zip(part, spacing, (row, column), strict=True)
        ]
        square = (away[0][:, None] + away[1][None]) / reach**2
        weight = (1 - square).clamp(min=0).square().unsqueeze(-1).to(offset.dtype)
        out[part] = (out[part] + brush.amount * weight).clamp(max=0)
    ends = dabs.min(0).values - brush.radius, dabs.max(0).values + brush.radius
    return out, (float(ends[0][0]), float(ends[0][1]), float(ends[1][0]), float(ends[1][1]))


class SteeredAlpha(AlphaGrid):
    """α(x) + D(x), not below the filter's axis; where D is 0 it is α to the last bit."""

    offset: Tensor

    def __init__(self, learned: AlphaGrid, offset: Tensor) -> None:
        nn.Module.__init__(self)
        self.unit, self.low, self.high = learned.unit, learned.low, learned.high
        self.values = learned.values
        self.register_buffer("offset", offset)

    def forward(self, x: Tensor) -> Tensor:
        learned = super().forward(x)
        lowered = learned + interpolate(self.offset, x).squeeze(-1) * self.unit
        return lowered.maximum(learned.clamp(max=self.low))


def steered(field: Field, offset: Tensor) -> Field:
    """A view of a field whose α is lowered by an offset (R_1, R_2, 1); it shares the field's other numbers."""
    encoding = copy.copy(filter_of(field))
    encoding._modules = {**encoding._modules, "alpha": SteeredAlpha(encoding.alpha, offset)}
    shown = copy.copy(field)
    shown._modules = {**field._modules, "encoding": encoding}
    return shown


def with_offset(field: Field, offset: Tensor, shape: Shape) -> Field:
    """A copy of a field whose α grid is finer and has the offset in it, to be saved."""
    copied = copy.deepcopy(field)
    encoding = filter_of(copied)
    grid = refine(encoding.alpha.values.detach(), shape) + offset
    encoding.alpha.values = nn.Parameter(grid, requires_grad=False)
    encoding.constrain()
    copied.spec = {**field.spec, "options": {**field.spec["options"], "grid": tuple(grid.shape[:-1])}}
    return copied
