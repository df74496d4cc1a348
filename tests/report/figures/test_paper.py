"""The paper's figures from result lines that were made without training."""

from __future__ import annotations

import pytest
from tests.support.result_lines import fitting_lines, line

from alfilter.report.figures import paper

PNG = b"\x89PNG"


@pytest.mark.parametrize("draw", [paper.convergence_figure, paper.crops_figure, paper.alpha_maps_figure])
def test_figures_of_the_image_fitting(draw: object) -> None:
    assert callable(draw)
    assert draw(fitting_lines()).startswith(PNG)


def test_pictures_with_gaps_row_by_row() -> None:
    rows = [line(group, observe="random:0.35", alpha=True) for group in (paper.LOW_START, paper.PAPER_START)]
    assert paper.sparse_figure(rows).startswith(PNG)


def test_views_of_a_shape_that_has_a_surface() -> None:
    picture = line("siren")["pictures"]["reference"]
    views = {f"{side}_{view}": picture for side in ("reference", "render") for view in ("whole", "leg")}
    assert paper.shape_views_figure([line("siren", pictures=views)]).startswith(PNG)
    assert paper.shape_views_figure([line("siren", pictures={"reference_whole": picture})]) == b""


def test_an_overview_without_a_line_is_no_figure() -> None:
    assert paper.overview_figure([]) == b""
