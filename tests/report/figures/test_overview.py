"""The figure of the method's stages."""

from __future__ import annotations

from alfilter.report.figures.overview import overview_figure


def test_nothing_to_draw_is_no_figure() -> None:
    assert overview_figure([]) == b""
