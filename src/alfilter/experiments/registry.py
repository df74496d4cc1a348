"""STUDIES: every study by name, with its question and its module, which is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

from alfilter.errors import UserError, nearest
from alfilter.experiments.study import Study


class Declared(NamedTuple):
    """Where a study is declared, `module:NAME` below this package, and the question it answers.

    paper: whether it is a table or figure of the paper. Several of these may show the runs of one study.
    """

    where: str
    question: str
    paper: bool = False


class Studies(Mapping[str, Study]):
    """Studies by name, each imported by `studies[name]` and not before.

    >>> STUDIES.declared["responses"].question
    'what passes the filter at which α?'
    >>> STUDIES["responses"].name
    'responses'
    """

    def __init__(self, declared: Mapping[str, Declared]) -> None:
        self.declared = declared

    def __getitem__(self, name: str) -> Study:
        if name not in self.declared:
            raise UserError(f"there is no study {name!r}; {nearest(name, self.declared)}")
        where, question, _ = self.declared[name]
        module, _, attribute = where.partition(":")
        study: Study = getattr(import_module(f"alfilter.experiments.{module}"), attribute)
        return replace(study, question=question)

    def __contains__(self, name: object) -> bool:
        return name in self.declared

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


# by what they ask: which setting, which method, what is inside, what the paper shows
STUDIES = Studies(
    {
        "alpha": Declared("insight.alpha:STUDY", "what unit, start, band, grid and gain should α have?"),
        "borders": Declared(
            "insight.borders:STUDY", "where should γ see the samples: at the ends, in centres, in [0, 1]?"
        ),
        "grids": Declared(
            "insight.local_frequency:CHANGES_STUDY", "what is each setting of al-grid worth, one change at a time?"
        ),
        "minute": Declared("compare.minute:STUDY", "how good is every method after 10, 30 and 60 s at 512×512?"),
        "headline": Declared("compare.minute:HEADLINE_STUDY", "and the two grids, on sixteen pictures?"),
        "minute-equal": Declared("compare.minute:EQUAL_STUDY", "and these two at 60,000 to 400,000 parameters?"),
        "equal-search": Declared("tuning.equal_sizes:STUDY", "which setting of each is best at these sizes?"),
        "local-frequency": Declared(
            "insight.local_frequency:STUDY", "does α on a learned grid mean local frequency, and at what cost?"
        ),
        "tuning": Declared("tuning.methods:STUDY", "which rates, schedule and scale suit each method?"),
        "tuning-minute": Declared("tuning.minute:STUDY", "and for a minute at 512×512?"),
        "media": Declared(
            "compare.media:STUDY", "how good is every method on sound, a volume, a video and a light field?"
        ),
        "filling": Declared("compare.filling:STUDY", "what lies between the pixels, before a field is fitted?"),
        "between-trials": Declared("compare.between_ablation:STUDY", "what is each part of preset reconstruct worth?"),
        "between-search": Declared("compare.between:SEARCH_STUDY", "which setting of each method is best between?"),
        "methods-table": Declared(
            "compare.equal_terms:STUDY", "how well does every method fit 96×96 pixels in 500 steps?"
        ),
        "methods-equal": Declared("compare.equal_terms:EQUAL", "and at 60,000 parameters each?"),
        "between": Declared("compare.between:STUDY", "which method is right between the samples?"),
        "between-large": Declared("compare.between:LARGE_STUDY", "and on pictures four times as large?"),
        "noise": Declared("compare.noise:STUDY", "what is a local cut-off worth on noisy measurements?"),
        "shapes-search": Declared(
            "tuning.shapes:STUDY", "which setting of each method is best for a shape in little time?"
        ),
        "shapes-rates": Declared("tuning.shapes:RATES_STUDY", "which rates still hold in longer fits of a shape?"),
        "shapes-grids": Declared("tuning.shape_grids:STUDY", "which setting of the two grids is best for a shape?"),
        "shapes-minute": Declared("compare.shapes:STUDY", "how good is a shape after a minute of two cores?"),
        "shapes-long": Declared("paper.shapes:LONG_STUDY", "the table of shapes with five minutes for each fit"),
        "responses": Declared("paper.responses:STUDY", "what passes the filter at which α?"),
        "ntk": Declared("paper.ntk:STUDY", "does the filter flatten the spectrum of the empirical NTK?"),
        "kernel": Declared("paper.kernel_view:STUDY", "does H̄_j(α(x))² λ_j predict the empirical NTK locally?"),
        "alpha-meaning": Declared("insight.alpha_meaning:STUDY", "does the learned α mean local frequency?"),
        "complexity": Declared("paper.complexity:STUDY", "how do time and memory grow with N, C_N, W and G?"),
        "overview": Declared(
            "paper.overview:STUDY", "the overview of the method: its stages at two places of a picture", paper=True
        ),
        "image-fitting": Declared(
            "paper.image_fitting:STUDY", "Table 2d_comparison: PSNR, SSIM, LPIPS of six methods", paper=True
        ),
        "convergence": Declared(
            "paper.image_fitting:CONVERGENCE", "Fig. psnr_comparison: PSNR over the first 100 and all steps", paper=True
        ),
        "memory": Declared("paper.memory:STUDY", "Table complexity: what al-sine and DINER store and need", paper=True),
        "first-steps": Declared(
            "paper.image_fitting:FIRST_STEPS",
            "Fig. psnr_comparison: the first 100 steps at the paper's true size",
            paper=True,
        ),
        "crops": Declared(
            "paper.image_fitting:CROPS", "Fig. fig2dcomparison: what the methods make of fine detail", paper=True
        ),
        "alpha-maps": Declared(
            "paper.image_fitting:ALPHA_MAPS", "Fig. alpha_viz: truth, reconstruction, α, error", paper=True
        ),
        "sparse": Declared("paper.sparse:STUDY", "Fig. inpainting: 5 % and 35 % of the pixels", paper=True),
        "shapes": Declared("paper.shapes:STUDY", "Table sdf_comparison: Chamfer and IoU of four shapes", paper=True),
        "shape-views": Declared(
            "paper.shape_views:STUDY", "Fig. armadillo: smooth and detailed parts of a surface", paper=True
        ),
        "methods": Declared(
            "paper.method_traits:STUDY",
            "Table comparison: what the methods are, and what can be measured of it",
            paper=True,
        ),
    }
)
