"""FIGURES: what is drawn of a study's result lines, by the name under which the study is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from alfilter.files import write_bytes
from alfilter.report.figures import paper, studies

Lines = Sequence[Mapping[str, Any]]

FIGURES: dict[str, Callable[[Lines], bytes]] = {
    "overview": paper.overview_figure,
    "responses": studies.responses_figure,
    "ntk": studies.ntk_figure,
    "kernel": studies.kernel_figure,
    "alpha-meaning": studies.meaning_figure,
    "complexity": studies.complexity_figure,
    "convergence": paper.convergence_figure,
    "first-steps": paper.convergence_figure,
    "crops": paper.crops_figure,
    "alpha-maps": paper.alpha_maps_figure,
    "sparse": paper.sparse_figure,
    "shape-views": paper.shape_views_figure,
}


def write_figure(name: str, study: str, lines: Lines, folder: str | Path) -> Path | None:
    """The figure of that name beside the study's result lines; None where there is none, or nothing to draw yet.

    It is called like the lines, or `STUDY-figure-NAME` when several figures show the lines of one study.
    """
    data = FIGURES[name](lines) if name in FIGURES else b""
    if not data:
        return None
    own = study.removesuffix("-paper").removesuffix("-half") == name
    path = Path(folder) / (f"{study}.png" if own else f"{study}-figure-{name}.png")
    write_bytes(path, data)
    return path
