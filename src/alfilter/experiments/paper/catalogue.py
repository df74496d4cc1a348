"""Every table and figure of the paper under a name, at the paper's scale and as a twin for two cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from alfilter.errors import UserError
from alfilter.experiments.paper import (
    image_fitting as fitting,
)
from alfilter.experiments.paper import (
    method_traits as traits,
)
from alfilter.experiments.paper import (
    shape_views as renders,
)
from alfilter.experiments.paper import (
    shapes,
)
from alfilter.experiments.paper import (
    sparse as gaps,
)
from alfilter.experiments.study import Experiment, Lines, Run

SCALES = ("cpu", "paper")
_FITTING = (
    "shrinks 32 pictures of 512×512 to 3 of 64×64, 256 neurons to 32, L 8 to 5, B 20 to 12.5; keeps 5,000 full-batch "
    "steps, rates, schedule, ω0, κ, one α a pixel"
)
_GAPS = "shrinks 512×512 to 128×128, 256 neurons to 64, L 8 to 6, B 20 to 15, 5,000 steps to 1,000; keeps λ and rates"
_SHAPES = (
    "shrinks 200,000 steps of a network of 8×256 to 20 core seconds of the methods' default presets, and 512³ to 256³; "
    "the meshes have 100,000 faces; the Thai statue is a stand-in"
)
_VIEWS = (
    "shrinks 200,000 steps of a network of 8×256 to 30 core seconds of the methods' default presets, and 512³ to 192³"
)


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    study: the CPU twin. full: the runs of the paper's own protocol, from those of its files that are there; none where
    it is the same. summarise: of the lines, when the study's own is another table. shrinks: what the twin leaves out.
    needs: the files of the protocol, below the data folder.
    """

    name: str
    shows: str
    study: Experiment
    full: Callable[[tuple[str, ...]], list[Run]] | None = None
    summarise: Callable[[Lines], str] | None = None
    shrinks: str = ""
    needs: tuple[str, ...] = fitting.ALL_IMAGES

    def at(self, scale: str, data: str) -> Experiment:
        """The study at a scale; the full one takes those files of its protocol that the data folder holds."""
        if scale == "cpu":
            return replace(self.study, summarise=self.text)
        full = self.full
        if full is None:
            raise UserError(f"{self.name} has one scale only; leave --scale out")
        there = present(data, self.needs)
        name = f"{self.study.name}-paper"
        return replace(self.study, name=name, runs=lambda: full(there), summarise=self._table)

    def text(self, lines: Lines) -> str:
        """The table of the twin, and what it shrinks."""
        return f"{self._table(lines)}\n\nThe CPU twin {self.shrinks}." if self.shrinks else self._table(lines)

    def _table(self, lines: Lines) -> str:
        return (self.summarise or self.study.summarise)(lines)


def present(data: str, needs: Sequence[str]) -> tuple[str, ...]:
    """The files of a protocol that are there; at least one must be."""
    found = tuple(file for file in needs if (Path(data) / file).is_file())
    if not found:
        raise UserError(
            f"none of the {len(needs)} files of the paper's protocol is in {data} ({needs[0]}, …); "
            "name their folder with --data, or give --fetch"
        )
    return found


def full_shapes(paths: Sequence[str]) -> list[Run]:
    """The paper's protocol for shapes: 200,000 steps of 10,000 points, 8 hidden layers."""
    return [Run(name, path, method=name, preset="paper") for path in paths for name in shapes.METHODS]


PAPER: dict[str, Item] = {
    item.name: item
    for item in (
        Item("image-fitting", "Table 2d_comparison: PSNR, SSIM, LPIPS of six methods", fitting.STUDY,
             fitting.full_runs, shrinks=_FITTING),
        Item("convergence", "Fig. psnr_comparison: PSNR over the first 100 and all steps", fitting.STUDY,
             fitting.full_runs, fitting.summarise_curves, _FITTING),
        Item("crops", "Fig. fig2dcomparison: what the methods make of fine detail", fitting.STUDY, fitting.full_runs,
             fitting.summarise_detail, _FITTING),
        Item("alpha-maps", "Fig. alpha_viz: truth, reconstruction, α, error", fitting.STUDY, fitting.full_runs,
             fitting.summarise_alpha, _FITTING),
        Item("sparse", "Fig. inpainting: 5 % and 35 % of the pixels", gaps.STUDY, gaps.full_runs, shrinks=_GAPS),
        Item("shapes", "Table sdf_comparison: Chamfer and IoU of four shapes", shapes.STUDY, full_shapes,
             shrinks=_SHAPES, needs=tuple(shapes.SHAPES.values())),
        Item("shape-views", "Fig. armadillo: smooth and detailed parts of a surface", renders.STUDY,
             renders.full_runs, shrinks=_VIEWS, needs=(shapes.SHAPES[renders.SHAPE],)),
        Item("methods", "Table comparison: what the methods are, and what can be measured of it", traits.STUDY),
    )
}  # fmt: skip
