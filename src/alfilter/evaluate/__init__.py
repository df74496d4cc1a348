"""A field on grids, axes and points, and its scores against a signal."""

from alfilter.evaluate.pixels import PixelAxis, pixel_axis, pixel_bands, sample_pixels
from alfilter.evaluate.sampling import axis_coords, distances_at, sample_axes, sample_grid, sample_points, surface_of
from alfilter.evaluate.scores import Estimate, Evaluate, Scores
from alfilter.evaluate.section import LAYOUTS, Layout, Section

__all__ = [
    "LAYOUTS",
    "Estimate",
    "Evaluate",
    "Layout",
    "PixelAxis",
    "Scores",
    "Section",
    "axis_coords",
    "distances_at",
    "pixel_axis",
    "pixel_bands",
    "sample_axes",
    "sample_grid",
    "sample_pixels",
    "sample_points",
    "surface_of",
]
