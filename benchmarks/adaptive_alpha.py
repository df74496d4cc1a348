"""Is a tree of α nodes, refined where it is needed, better than a uniform grid with as many nodes?

    python benchmarks/adaptive_alpha.py [--steps 500] [--pictures div2k/03.png …] [--json]

al-grid on 128×128 crops with tables so small that places share rows, where α matters most. The tree is hierarchical:
α(x) = Σ_l I(x; M_l ⊙ A_l), grids of 9², 17², 33², 65² nodes of which the mask M_l lets a chosen set take part. It
starts with the coarsest and is refined through the `adapt` hook after 10, 20 and 30 % of the steps, each time by the
nodes of the next level with the greatest indicator among those around active ones, up to the number of nodes of a
uniform grid:

    error       the squared error of the samples around the node
    variation   how much α varies around the node
    gradient    the slope of the loss along the node's own value

`levels` is the same sum with every node of the levels up to the uniform grid's from the start: the functions of the
uniform grid, learned in other numbers. What the tree has beyond it is due to where its nodes are.

Every setting has the same feature grid, network, steps and seed; PSNR, and Spearman's ρ of the cut-off with the
picture's local band over blocks of 8×8.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from alfilter.analysis.structure import block_means, local_band, shift_test
from alfilter.encodings import FilteredGrid
from alfilter.encodings.base import Situation
from alfilter.experiments.data import crop, data_folder
from alfilter.methods import Field, build
from alfilter.ops import interpolate
from alfilter.tasks import ImageTask
from alfilter.training import fit
from machine import machine

SIDES = (9, 17, 33, 65)  # nodes per axis of the tree's levels
MOMENTS = (0.1, 0.2, 0.3)  # of the run, when it is refined
OPTIONS = {"levels": 8, "features": 2, "base": 8, "finest": 128, "table": 9, "width": 64, "depth": 1}
TRAINING: dict[str, Any] = {
    "batch": 4096, "micro": 4096, "schedule": "cosine", "decay": 0.01, "beta2": 0.99, "epsilon": 1e-15,
    "lr": 5e-3, "lr_encoding": 2e-2, "parsimony": 0.1,
}  # fmt: skip


class TreeAlpha(nn.Module):
    """α as a sum of sparse grids; `values` is what it is on the finest one."""

    def __init__(self, start: float, unit: float, low: float, high: float, nodes: int, indicator: str) -> None:
        super().__init__()
        self.unit, self.low, self.high, self.nodes, self.indicator = unit, low, high, nodes, indicator
        self.grids = nn.ParameterList([torch.zeros(side, side) for side in SIDES])
        self.grids[0].data.fill_(start / unit)
        for number, side in enumerate(SIDES):
            mask = torch.full((side, side), float(number == 0 or (indicator == "levels" and side**2 <= nodes)))
            if number:
                mask[::2, ::2] = 0  # these are nodes of the level before
            self.register_buffer(f"mask{number}", mask)

    def masks(self) -> list[Tensor]:
        return [getattr(self, f"mask{number}") for number in range(len(SIDES))]

    @property
    def values(self) -> Tensor:
        """The sum on the finest grid: (n, n, 1), in shares of the axis."""
        total = torch.zeros(1, 1, SIDES[-1], SIDES[-1])
        for grid, mask in zip(self.grids, self.masks(), strict=True):
            total = total + F.interpolate((grid * mask)[None, None], SIDES[-1], mode="bilinear", align_corners=True)
        return total[0, 0].clamp(self.low / self.unit, self.high / self.unit).unsqueeze(-1)

    def forward(self, x: Tensor) -> Tensor:
        return interpolate(self.values, x).squeeze(-1) * self.unit

    def constrain(self) -> None:
        """`values` is clamped; what stands behind it may go further."""

    def count(self) -> int:
        return int(sum(float(mask.sum()) for mask in self.masks()))

    def refine(self, level: int, share: float, scores: Tensor) -> None:
        """Let nodes of a level take part, of those around active nodes of the one before: the greatest scores first."""
        masks = self.masks()
        around = F.interpolate(masks[level - 1][None, None], SIDES[level], mode="bilinear", align_corners=True)[0, 0]
        allowed = (around > 0).float()
        allowed[::2, ::2] = 0
        count = min(round((self.nodes - self.count()) * share), int(allowed.sum()))
        best = torch.where(allowed > 0, scores, -torch.inf).flatten().topk(count).indices
        masks[level].view(-1)[best] = 1.0


class TreeGrid(FilteredGrid):
    """al-grid's encoding whose α is a tree; refined through the hook that every encoding has."""

    field: list[Field]  # in a list, so that it is no part of this module

    def compiled_features(self) -> None:
        return None  # the compiled step knows uniform α grids only

    def adapt(self, situation: Situation) -> None:
        tree: Any = self.alpha
        level = 1 + sum(getattr(self, "done", 0) > number for number in range(len(MOMENTS)))
        if tree.indicator == "levels" or level > len(MOMENTS) or situation.progress < MOMENTS[level - 1]:
            return
        self.done = level
        # the first levels may not take all nodes, the last takes what is left
        tree.refine(level, (0.4, 0.6, 1.0)[level - 1], self.scores(level, situation))

    def scores(self, level: int, situation: Situation) -> Tensor:
        tree: Any = self.alpha
        side = SIDES[level]
        if tree.indicator == "variation":
            return _spread(tree.values.detach()[..., 0], side)
        if tree.indicator == "gradient":
            return self.slope(level, situation)
        total = torch.zeros(side * side)
        for x, error in situation.errors():
            node = ((x + 1) / 2 * (side - 1)).round().long()
            total.index_add_(0, node[:, 0] * side + node[:, 1], error)
        return total.view(side, side)

    def slope(self, level: int, situation: Situation) -> Tensor:
        """|∂ loss/∂ node| of all nodes of a level, active or not."""
        tree: Any = self.alpha
        mask, before = tree.masks()[level], tree.masks()[level].clone()
        mask.fill_(1.0)
        loss = torch.zeros(())
        for x, y in situation.samples():
            loss = loss + (self.field[0](x) - y).square().mean()
        (slope,) = torch.autograd.grad(loss, tree.grids[level])
        mask.copy_(before)
        return slope.abs()


def _spread(values: Tensor, side: int) -> Tensor:
    """The range of α around every node of a grid: (side, side)."""
    size = 2 * (len(values) // side) + 1
    padded = F.pad(values[None, None], (size // 2,) * 4, mode="replicate")
    spread = F.max_pool2d(padded, size, 1) + F.max_pool2d(-padded, size, 1)
    return F.interpolate(spread, side, mode="bilinear", align_corners=True)[0, 0]


def made(name: str, nodes: int) -> Field:
    """A field with a uniform α grid of `nodes`, or with a tree of as many whose indicator is `name`."""
    side = round(nodes**0.5)
    field = build("al-grid", in_dim=2, out_dim=3, samples=(128, 128), grid=side, seed=0, **OPTIONS)
    if name == "uniform":
        return field
    encoding: Any = field.encoding
    old = encoding.alpha
    encoding.__class__ = TreeGrid
    encoding.alpha = TreeAlpha(float(old.values.detach().max()) * old.unit, old.unit, old.low, old.high, nodes, name)
    encoding.field = [field]
    return field


def measure(picture: str, name: str, nodes: int, steps: int) -> dict[str, Any]:
    """One fit: PSNR, ρ, and the nodes that α has in the end."""
    task = ImageTask(crop(Path(data_folder()) / picture, 128))
    field = made(name, nodes)
    fit(field, task, steps=steps, **TRAINING)
    encoding: Any = field.encoding
    with torch.no_grad():
        places = task.signal.coords().view(128, 128, 2)
        cut_off = block_means(encoding.local_frequency(places).log(), 8)
    rho, p, _ = shift_test(cut_off, local_band(task.target().mean(-1), 8))
    used = nodes if name == "uniform" else encoding.alpha.count()
    return {"picture": picture, "alpha": name, "nodes": used, "psnr": task.evaluate(field).metrics["psnr"],
            "rho": rho, "p": p}  # fmt: skip


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--steps", type=int, default=500)
    p.add_argument("--pictures", nargs="+", default=[f"div2k/{number:02d}.png" for number in (3, 9, 12)])
    p.add_argument("--nodes", type=int, nargs="+", default=[17 * 17, 33 * 33], help="of α; squares")
    p.add_argument("--json", action="store_true", help="print one JSON object a line")
    arguments = p.parse_args()
    torch.set_num_threads(1)
    here = machine()
    if not arguments.json:
        print(here)
    for nodes in arguments.nodes:
        for name in ("uniform", "levels", "error", "variation", "gradient"):
            lines = [measure(picture, name, nodes, arguments.steps) for picture in arguments.pictures]
            if arguments.json:
                print("\n".join(json.dumps({**line, "machine": here}) for line in lines), flush=True)
                continue
            psnr, rho = (statistics.fmean(line[key] for line in lines) for key in ("psnr", "rho"))
            each = " ".join(f"{line['psnr']:.2f}" for line in lines)
            what = {"uniform": "uniform grid", "levels": "the same in levels"}.get(name, f"tree by {name}")
            print(f"{what:<20}{lines[0]['nodes']:>6} nodes   {psnr:.2f} dB ({each})   ρ {rho:.3f}", flush=True)


if __name__ == "__main__":
    main()
