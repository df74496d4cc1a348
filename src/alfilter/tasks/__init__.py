"""What is optimised: a task sees a field as a callable and never names a method."""

from alfilter.tasks.base import Scores, Task
from alfilter.tasks.fit import GridTask, ImageTask, axis_coords, sample_axes, sample_grid
from alfilter.tasks.media import AudioTask, VolumeTask
from alfilter.tasks.opening import TASKS, open_task
from alfilter.tasks.points import PointTask
from alfilter.tasks.sdf import SdfTask, sample_points

__all__ = [
    "TASKS",
    "AudioTask",
    "GridTask",
    "ImageTask",
    "PointTask",
    "Scores",
    "SdfTask",
    "Task",
    "VolumeTask",
    "axis_coords",
    "open_task",
    "sample_axes",
    "sample_grid",
    "sample_points",
]
