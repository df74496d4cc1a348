"""A field on grids, axes and points, and its scores against a signal."""

from alfilter.evaluate.grid import axis_coords, sample_axes, sample_grid
from alfilter.evaluate.points import distances_at, sample_points
from alfilter.evaluate.scores import Estimate, Evaluate, Scores

__all__ = [
    "Estimate",
    "Evaluate",
    "Scores",
    "axis_coords",
    "distances_at",
    "sample_axes",
    "sample_grid",
    "sample_points",
]
