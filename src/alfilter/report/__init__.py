"""Figures as PNG bytes, and self-contained HTML pages about one run or many."""

from alfilter.report.figures.arrays import error_map, radial_spectrum
from alfilter.report.figures.frequency import alpha_figure, scale_response_figure
from alfilter.report.figures.run import convergence_figure, error_figure, spectrum_figure
from alfilter.report.page.html import render_page
from alfilter.report.page.run import write_report

__all__ = [
    "alpha_figure",
    "convergence_figure",
    "error_figure",
    "error_map",
    "radial_spectrum",
    "render_page",
    "scale_response_figure",
    "spectrum_figure",
    "write_report",
]
