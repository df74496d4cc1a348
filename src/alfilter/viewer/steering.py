"""Steering: α raised or lowered by hand inside an area, as a pure function over the α grid.

The brush acts on nodes. So that it is never coarser than the picture, the grid is first refined until neighbouring
nodes are at most one sample apart: d-linear interpolation goes through a grid refined by a whole factor unchanged, so
the refined field is the same field. Nodes closer to the edge of the brush than one cell's diagonal stay as they are;
hence α, and with it the field, changes nowhere outside the brush.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from alfilter.analysis import filtered_encoding_of
from alfilter.encodings import FilteredFourier
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
    """How the brush works: `shift` adds `amount` to the grid in its middle, `restore` brings back what was learned.

    radius: in samples of the picture. amount: in the unit the grid is stored in.
    """

    radius: float
    amount: float = 0.0
    kind: Literal["shift", "restore"] = "shift"

    def __post_init__(self) -> None:
        if self.kind not in ("shift", "restore"):
            raise UserError(f"a brush shifts or restores, got {self.kind!r}")
        if not MIN_RADIUS <= self.radius <= 1e5:
            raise UserError(f"a brush is at least {MIN_RADIUS:g} samples wide to each side, got {self.radius:g}")
        if not -1e3 <= self.amount <= 1e3:
            raise UserError(f"a brush shifts α by at most 1000 channels, got {self.amount:g}")


def refine(grid: Tensor, shape: Shape) -> Tensor:
    """The same d-linear function on nodes at most one sample of a picture of `shape` apart. grid: (R_1, R_2, 1).

    >>> refine(torch.tensor([[[0.0], [4.0]]]), (1, 5)).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    sizes = []
    for nodes, samples in zip(grid.shape[:-1], shape, strict=True):
        factor = math.ceil((samples - 1) / (nodes - 1)) if nodes > 1 else 1
        if nodes == 1 and samples > 1:  # constant along this axis: any number of nodes says the same
            sizes.append(min(samples, MAX_NODES))
        else:
            sizes.append((nodes - 1) * max(1, min(factor, (MAX_NODES - 1) // max(1, nodes - 1))) + 1)
    if tuple(sizes) == tuple(grid.shape[:-1]):
        return grid
    axes = [torch.linspace(-1, 1, size, dtype=torch.float64) if size > 1 else torch.zeros(1).double() for size in sizes]
    refined, wide = torch.empty(*sizes, 1, dtype=grid.dtype), grid.double()
    for start in range(0, sizes[0], _ROWS):  # float64 only some rows at a time
        places = torch.stack(torch.meshgrid(axes[0][start : start + _ROWS], axes[1], indexing="ij"), dim=-1)
        refined[start : start + _ROWS] = interpolate(wide, places)
    return refined


def paint(grid: Tensor, learned: Tensor, dabs: Tensor, brush: Brush, shape: Shape) -> tuple[Tensor, Box]:
    """α after some dabs of a brush, and the box outside which nothing changed.

    A dab at distance δ adds amount (1-(δ/ρ)²)² for δ < ρ = radius less one cell's diagonal; a restoring dab moves α by
    that share towards `learned`. grid, learned: (R_1, R_2, 1) as stored. dabs: (n, 2) rows and columns in samples.
    """
    spacing = [(n - 1) / max(1, nodes - 1) for n, nodes in zip(shape, grid.shape[:-1], strict=True)]  # samples per cell
    reach = brush.radius - math.hypot(*spacing)
    if reach <= 0:
        raise UserError(f"this α grid is steered with a brush of more than {math.hypot(*spacing):.3g} samples")
    out = grid.clone()
    for row, column in dabs.tolist():
        low = [max(0, math.ceil((c - reach) / s)) if s else 0 for c, s in zip((row, column), spacing, strict=True)]
        high = [
            min(nodes, math.floor((c + reach) / s) + 1) if s else nodes
            for c, s, nodes in zip((row, column), spacing, grid.shape[:-1], strict=True)
        ]
        part = (slice(low[0], max(low[0], high[0])), slice(low[1], max(low[1], high[1])))
        away = [
            (torch.arange(cut.start, cut.stop, dtype=torch.float64) * s - c).square()
            for cut, s, c in zip(part, spacing, (row, column), strict=True)
        ]
        square = (away[0][:, None] + away[1][None]) / reach**2
        weight = (1 - square).clamp(min=0).square().unsqueeze(-1).to(grid.dtype)
        if brush.kind == "shift":
            out[part] += brush.amount * weight
        else:
            out[part] = torch.where(weight > 0, torch.lerp(out[part], learned[part], weight), out[part])
    ends = dabs.min(0).values - brush.radius, dabs.max(0).values + brush.radius
    return out, (float(ends[0][0]), float(ends[0][1]), float(ends[1][0]), float(ends[1][1]))


def with_alpha(field: Field, grid: Tensor) -> Field:
    """A copy of a field with another α grid; what saves it says so. grid: (R_1, R_2, 1) as stored."""
    alpha_of(field)
    copied = copy.deepcopy(field)
    encoding = alpha_of(copied)
    encoding.alpha.values = nn.Parameter(grid.detach().clone(), requires_grad=False)
    encoding.constrain()
    copied.spec = {**field.spec, "options": {**field.spec["options"], "grid": tuple(grid.shape[:-1])}}
    return copied


def alpha_of(field: Field) -> FilteredFourier:
    """The filtered encoding of a field that has one."""
    encoding = filtered_encoding_of(field)
    if encoding is None:
        raise UserError(f"α is not defined for {field.spec.get('method')}; only al-sine and al-relu can be steered")
    return encoding
