"""Figures as PNG bytes, and self-contained HTML pages about one run or many."""

from alfilter.report.figures.arrays import band_kinds, error_map, radial_spectrum, scale_frequencies
from alfilter.report.figures.run import (
    alpha_figure,
    convergence_figure,
    error_figure,
    scale_response_figure,
    spectrum_figure,
)
from alfilter.report.page.html import render_page
from alfilter.report.page.run import write_report

__all__ = [
    "alpha_figure",
    "band_kinds",
    "convergence_figure",
    "error_figure",
    "error_map",
    "radial_spectrum",
    "render_page",
    "scale_frequencies",
    "scale_response_figure",
    "spectrum_figure",
    "write_report",
]
