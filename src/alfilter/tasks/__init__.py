"""What is optimised: a task sees a field as a callable and never names a method."""

from alfilter.tasks.base import Scores, Task
from alfilter.tasks.fit import GridTask, ImageTask, axis_coords, sample_axes, sample_grid
from alfilter.tasks.points import PointTask

__all__ = ["GridTask", "ImageTask", "PointTask", "Scores", "Task", "axis_coords", "sample_axes", "sample_grid"]
